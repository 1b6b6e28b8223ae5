{{/* Returns a setting's value as text. Helm reads some numbers as floating point; they must not become 4.29e+09. */}}
{{- define "statehouse.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq (floor .) . }}{{ printf "%.0f" . }}{{ else }}{{ . }}{{ end -}}
{{- else -}}
{{- toString . -}}
{{- end -}}
{{- end -}}

{{/* The declared settings of a service, as JSON: dict "root" "service"; with "migrations" also those of `migrate`. */}}
{{- define "statehouse.declared" -}}
{{- $all := .root.Files.Get "files/settings.json" | fromJson -}}
{{- mustMergeOverwrite (dict) (index $all .service) (hasKey . "migrations" | ternary $all.migrate dict) | toJson -}}
{{- end -}}

{{/*
Returns, as JSON, the settings of a service whose values are text in the chart or in the user's values: dict "root"
"service" and optionally "migrations" (the values of its migrations). Values for one service override those for all.
*/}}
{{- define "statehouse.settings" -}}
{{- $root := .root -}}
{{- $declared := include "statehouse.declared" . | fromJson -}}
{{- $fullname := include "statehouse.fullname" $root -}}
{{- $result := dict -}}
{{- range $other := list "access" "workspaces" "state" -}}
{{- $port := include "statehouse.port" (dict "root" $root "service" $other "setting" "GRPC_PORT") -}}
{{- $_ := set $result (printf "%s_ADDRESS" (upper $other)) (printf "%s-%s:%s" $fullname $other $port) -}}
{{- end -}}
{{- $objects := include "statehouse.port" (dict "root" $root "service" "state" "setting" "OBJECT_PORT") -}}
{{- $_ := set $result "STATE_OBJECT_URL" (printf "http://%s-state-objects:%s" $fullname (include "statehouse.text" $root.Values.state.service.port)) -}}
{{- if $root.Values.state.directory.existingClaim -}}
{{- $_ := set $result "BLOB_DIRECTORY" "/var/lib/statehouse" -}}
{{- end -}}
{{- range $values := list $root.Values.settings (index $root.Values .service).settings (dig "settings" dict (.migrations | default dict)) -}}
{{- range $name, $value := $values -}}
{{- if not (kindIs "invalid" $value) -}}
{{- $_ := set $result $name (include "statehouse.text" $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name := keys $result -}}
{{- if not (hasKey $declared $name) -}}{{- $_ := unset $result $name -}}{{- end -}}
{{- end -}}
{{- toJson $result -}}
{{- end -}}

{{/* A port of a service: dict "root" "service" "setting". */}}
{{- define "statehouse.port" -}}
{{- $declared := include "statehouse.declared" . | fromJson -}}
{{- include "statehouse.text" (index (index .root.Values .service).settings .setting | default (index $declared .setting).default) -}}
{{- end -}}

{{/* The effective value of a setting, with the service's own default: dict "root" "service" "setting". */}}
{{- define "statehouse.setting" -}}
{{- $settings := include "statehouse.settings" . | fromJson -}}
{{- $declared := include "statehouse.declared" . | fromJson -}}
{{- if hasKey $settings .setting -}}
{{- index $settings .setting -}}
{{- else if hasKey $declared .setting -}}
{{- include "statehouse.text" ((index $declared .setting).default | default "") -}}
{{- end -}}
{{- end -}}

{{/*
Returns the settings of a service whose values are in a Secret or ConfigMap, as a JSON object of sources by name.
Takes the same arguments as statehouse.settings.
*/}}
{{- define "statehouse.settingsFrom" -}}
{{- $declared := include "statehouse.declared" . | fromJson -}}
{{- $result := dict -}}
{{- range $values := list .root.Values.settingsFrom (index .root.Values .service).settingsFrom (dig "settingsFrom" dict (.migrations | default dict)) -}}
{{- range $name, $source := $values -}}
{{- $source = $source | default dict -}}
{{- $given := or (dig "existingSecret" "name" "" $source) (dig "configMap" "name" "" $source) -}}
{{- if and $given (hasKey $declared $name) -}}
{{- $_ := set $result $name $source -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq (include "statehouse.setting" (dict "root" .root "service" .service "setting" "GRPC_TLS")) "off" -}}
{{- $result = omit $result "GRPC_CA_FILE" "GRPC_CERT_FILE" "GRPC_KEY_FILE" -}}
{{- end -}}
{{- toJson $result -}}
{{- end -}}

{{/*
Environment variables of a container. Takes the same arguments as statehouse.settings, and optionally "only" (a list of
settings) and "pod" (for its extraEnv).
*/}}
{{- define "statehouse.env" -}}
{{- $only := .only -}}
{{- range $name, $value := include "statehouse.settings" . | fromJson }}
{{- if or (not $only) (has $name $only) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- range $name, $source := include "statehouse.settingsFrom" . | fromJson }}
{{- if or (not $only) (has $name $only) }}
- name: {{ hasSuffix "_FILE" $name | ternary $name (printf "%s_FILE" $name) }}
  value: /etc/statehouse/settings/{{ $name }}
{{- end }}
{{- end }}
{{- if .root.Values.certificateAuthorities }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/statehouse/authorities/authorities.pem
{{- end }}
{{- with .root.Values.telemetry.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with .pod.extraEnv }}
{{ tpl (toYaml .) $.root }}
{{- end }}
{{- end -}}

{{/* The item of a projected volume for a source: dict "source" "path". */}}
{{- define "statehouse.projection" -}}
{{- $kind := (eq (dig "configMap" "name" "" .source) "") | ternary "secret" "configMap" -}}
{{- $from := (eq $kind "secret") | ternary .source.existingSecret .source.configMap -}}
- {{ $kind }}:
    name: {{ $from.name }}
    items:
      - key: {{ $from.key | quote }}
        path: {{ .path }}
{{- end -}}

{{/* Volumes of the settings. Takes the same arguments as statehouse.env. */}}
{{- define "statehouse.settingsVolumes" -}}
{{- $only := .only -}}
{{- $sources := list -}}
{{- range $name, $source := include "statehouse.settingsFrom" . | fromJson -}}
{{- if or (not $only) (has $name $only) -}}
{{- $sources = append $sources (include "statehouse.projection" (dict "source" $source "path" $name)) -}}
{{- end -}}
{{- end }}
{{- if $sources }}
- name: settings
  projected:
    # 0440: the pod's user can read the files because they belong to its group.
    defaultMode: 288
    sources:
      {{- join "\n" $sources | nindent 6 }}
{{- end }}
{{- if .root.Values.certificateAuthorities }}
- name: authorities
  projected:
    # 0444
    defaultMode: 292
    sources:
      {{- include "statehouse.projection" (dict "source" .root.Values.certificateAuthorities "path" "authorities.pem") | nindent 6 }}
{{- end }}
{{- end -}}

{{- define "statehouse.settingsMounts" -}}
{{- $volumes := include "statehouse.settingsVolumes" . -}}
{{- if contains "name: settings\n" $volumes }}
- name: settings
  mountPath: /etc/statehouse/settings
  readOnly: true
{{- end }}
{{- if .root.Values.certificateAuthorities }}
- name: authorities
  mountPath: /etc/statehouse/authorities
  readOnly: true
{{- end }}
{{- end -}}
