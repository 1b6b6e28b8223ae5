{{/* Returns the pod values of a component as JSON: dict "root" and "own" (the component's own pod values). */}}
{{- define "statehouse.podValues" -}}
{{- $result := deepCopy .root.Values.pod -}}
{{- range $name, $value := .own -}}
{{- if and (kindIs "map" $value) (ne $name "affinity") -}}
{{- $_ := set $result $name (mustMergeOverwrite (index $result $name | default dict | deepCopy) $value) -}}
{{- else -}}
{{- $_ := set $result $name $value -}}
{{- end -}}
{{- end -}}
{{- toJson $result -}}
{{- end -}}

{{- define "statehouse.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
readOnlyRootFilesystem: true
{{- end -}}

{{/*
The specification of a pod with one container: dict "root" "component" "service" "pod" "args" and optionally "only" and
"migrations" (settings), "container" (text: ports, probes, lifecycle), "volumes", "mounts" (lists), "grace", "restart".
*/}}
{{- define "statehouse.podSpec" -}}
{{- $root := .root -}}
{{- $pod := .pod -}}
serviceAccountName: {{ include "statehouse.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ include "statehouse.text" $pod.runAsUser }}
  runAsGroup: {{ include "statehouse.text" $pod.runAsGroup }}
  fsGroup: {{ include "statehouse.text" $pod.runAsGroup }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .restart }}
restartPolicy: {{ . }}
{{- end }}
{{- with .grace }}
terminationGracePeriodSeconds: {{ . }}
{{- end }}
{{- with $pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $pod.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with $pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $pod.affinity }}
affinity:
  {{- tpl (toYaml .) $root | nindent 2 }}
{{- end }}
{{- if $pod.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- tpl (toYaml $pod.topologySpreadConstraints) $root | nindent 2 }}
{{- else if not .restart }}
topologySpreadConstraints:
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "statehouse.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- with $pod.extraInitContainers }}
initContainers:
  {{- tpl (toYaml .) $root | nindent 2 }}
{{- end }}
containers:
  - name: statehouse
    image: {{ include "statehouse.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: {{ toJson .args }}
    {{- with include "statehouse.env" . | trim }}
    env:
      {{- . | nindent 6 }}
    {{- end }}
    {{- with $pod.extraEnvFrom }}
    envFrom:
      {{- tpl (toYaml .) $root | nindent 6 }}
    {{- end }}
    {{- with .container }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with $pod.resources }}
    resources:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    securityContext:
      {{- include "statehouse.containerSecurity" . | nindent 6 }}
    volumeMounts:
      - name: tmp
        mountPath: /tmp
      {{- with include "statehouse.settingsMounts" . | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- with .mounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- with $pod.extraVolumeMounts }}
      {{- tpl (toYaml .) $root | nindent 6 }}
      {{- end }}
  {{- with $pod.extraContainers }}
  {{- tpl (toYaml .) $root | nindent 2 }}
  {{- end }}
volumes:
  - name: tmp
    emptyDir: {sizeLimit: 64Mi}
  {{- with include "statehouse.settingsVolumes" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with $pod.extraVolumes }}
  {{- tpl (toYaml .) $root | nindent 2 }}
  {{- end }}
{{- end -}}
