{{- define "statehouse.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 34 | trimSuffix "-" -}}
{{- end -}}

{{/* Names the object of a component: dict "root" "component". */}}
{{- define "statehouse.name" -}}
{{- printf "%s-%s" (include "statehouse.fullname" .root) .component -}}
{{- end -}}

{{/* The labels that select the pods of a component: dict "root" "component". */}}
{{- define "statehouse.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of pods. None depends on the chart's version, because the pod template of a Job cannot be changed. */}}
{{- define "statehouse.podLabels" -}}
{{- $labels := include "statehouse.selector" . | fromYaml -}}
{{- toYaml (mustMergeOverwrite (dict) .root.Values.commonLabels .pod.labels $labels) -}}
{{- end -}}

{{/* Metadata of an object: dict "root" "component" and optionally "name", "annotations", "labels". */}}
{{- define "statehouse.metadata" -}}
{{- $root := .root -}}
name: {{ .name | default (include "statehouse.name" .) }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- $own := include "statehouse.selector" . | fromYaml -}}
  {{- $_ := set $own "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") -}}
  {{- $_ := set $own "app.kubernetes.io/version" $root.Chart.AppVersion -}}
  {{- $_ := set $own "app.kubernetes.io/managed-by" $root.Release.Service -}}
  {{- $_ := set $own "app.kubernetes.io/part-of" "statehouse" -}}
  {{- toYaml (mustMergeOverwrite (dict) $root.Values.commonLabels (.labels | default dict) $own) | nindent 2 }}
{{- with mustMergeOverwrite (dict) $root.Values.commonAnnotations (.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "statehouse.image" -}}
{{- $image := .Values.image -}}
{{- $registry := .Values.global.imageRegistry | default $image.registry -}}
{{- $name := list $registry $image.repository | compact | join "/" -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $name $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name ($image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "statehouse.serviceAccountName" -}}
{{- (index .root.Values .service).serviceAccount.name | default (printf "%s-%s" (include "statehouse.fullname" .root) .service) -}}
{{- end -}}

{{/* The host of PUBLIC_URL. */}}
{{- define "statehouse.publicHost" -}}
{{- (include "statehouse.setting" (dict "root" . "service" "gateway" "setting" "PUBLIC_URL") | urlParse).hostname -}}
{{- end -}}
