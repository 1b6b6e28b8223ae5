{{/*
Returns, as JSON, what each component connects to: `calls` (components and ports) and `stores` (keys of networkPolicy).
Also returns the component's own ports: `public`, `ops`, `grpc`.
*/}}
{{- define "statehouse.connections" -}}
{{- $ports := dict -}}
{{- range $service := list "gateway" "access" "workspaces" "state" -}}
{{- $_ := set $ports $service (include "statehouse.ports" (dict "root" $ "service" $service) | fromJson) -}}
{{- end -}}
{{- $grpc := dict -}}
{{- range $service := list "access" "workspaces" "state" -}}
{{- $_ := set $grpc $service (dict "component" $service "ports" (list (index $ports $service).grpc)) -}}
{{- end -}}
{{- $telemetry := .Values.telemetry.endpoint | empty | ternary list (list "telemetry") -}}
{{- $stateWithObjects := dict "component" "state" "ports" (list $ports.state.grpc $ports.state.objects) -}}
{{- $objectStore := eq (include "statehouse.setting" (dict "root" . "service" "state" "setting" "BLOB_STORE")) "s3" | ternary (list "objectStore") list -}}
{{- $result := dict
  "gateway" (dict "calls" (list $grpc.access $grpc.workspaces $stateWithObjects) "stores" $telemetry "public" $ports.gateway.http "ops" $ports.gateway.ops)
  "access" (dict "calls" (list $grpc.workspaces) "stores" (concat (list "database" "nats") $telemetry) "ops" $ports.access.ops "grpc" $ports.access.grpc)
  "workspaces" (dict "calls" (list $grpc.access $grpc.state) "stores" (concat (list "database" "nats") $telemetry) "ops" $ports.workspaces.ops "grpc" $ports.workspaces.grpc)
  "state" (dict "calls" (list $grpc.access $grpc.workspaces) "stores" (concat (list "database" "nats") $objectStore $telemetry) "ops" $ports.state.ops "public" $ports.state.objects)
-}}
{{- if .Values.migrations.enabled -}}
{{- range $service := list "access" "workspaces" "state" -}}
{{- $_ := set $result (printf "migrate-%s" $service) (dict "calls" list "stores" (list "database")) -}}
{{- end -}}
{{- end -}}
{{- $operations := .Values.operations -}}
{{- $_ := set $result "fsck" (dict "calls" list "stores" (concat (list "database") $objectStore)) -}}
{{- if $operations.collectDryRun.enabled -}}
{{- $_ := set $result "collect" (dict "calls" (list $grpc.access $grpc.workspaces) "stores" (concat (list "database") $objectStore)) -}}
{{- end -}}
{{- if $operations.export.enabled -}}
{{- $_ := set $result "export" (dict "calls" list "stores" (concat (list "database") $objectStore)) -}}
{{- end -}}
{{- if $operations.auditVerify.enabled -}}
{{- $_ := set $result "audit-verify" (dict "calls" list "stores" (list "database")) -}}
{{- end -}}
{{- if .Values.preflight.enabled -}}
{{- $_ := set $result "preflight" (dict "calls" list "stores" (concat (list "database" "nats") $objectStore)) -}}
{{- end -}}
{{- if .Values.tests.enabled -}}
{{- $calls := list (dict "component" "gateway" "ports" (list $ports.gateway.http)) -}}
{{- range $service := list "access" "workspaces" "state" -}}
{{- $calls = append $calls (dict "component" $service "ports" (list (index $ports $service).ops)) -}}
{{- end -}}
{{- $_ := set $result "test" (dict "calls" $calls "stores" list) -}}
{{- end -}}
{{- toJson $result -}}
{{- end -}}

{{/* Returns the ports of a store as JSON: those in the values, or else those in its address: dict "root" "store". */}}
{{- define "statehouse.portsOf" -}}
{{- $given := (index .root.Values.networkPolicy .store).ports -}}
{{- if $given -}}
{{- toJson $given -}}
{{- else if eq .store "nats" -}}
{{- $ports := list -}}
{{- range $server := include "statehouse.setting" (dict "root" .root "service" "state" "setting" "NATS_URL") | splitList "," -}}
{{- $ports = append $ports (include "statehouse.portOfUrl" (dict "url" (trim $server) "default" 4222) | int) -}}
{{- end -}}
{{- toJson (uniq $ports) -}}
{{- else if eq .store "objectStore" -}}
{{- $url := include "statehouse.setting" (dict "root" .root "service" "state" "setting" "S3_ENDPOINT") -}}
{{- toJson (list (include "statehouse.portOfUrl" (dict "url" $url "default" (hasPrefix "https" $url | ternary 443 80)) | int)) -}}
{{- else if eq .store "telemetry" -}}
{{- $url := .root.Values.telemetry.endpoint -}}
{{- toJson (list (include "statehouse.portOfUrl" (dict "url" $url "default" (hasPrefix "https" $url | ternary 443 80)) | int)) -}}
{{- else -}}
[5432]
{{- end -}}
{{- end -}}

{{/* Returns the port of an address: dict "url" "default". urlParse would fail for an address without a protocol. */}}
{{- define "statehouse.portOfUrl" -}}
{{- regexFind ":[0-9]+(/|$)" .url | trimAll ":/" | default .default -}}
{{- end -}}

{{/* Converts `namespaces` and `from` into a list of NetworkPolicyPeers. */}}
{{- define "statehouse.peers" -}}
{{- range .namespaces }}
- namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: {{ . }}
{{- end }}
{{- with .from }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The ingress rules of a component: dict "root" "connections" "incoming" (the components that call it). */}}
{{- define "statehouse.ingressRules" -}}
{{- $root := .root -}}
{{- $policy := .root.Values.networkPolicy -}}
{{- range .incoming }}
- from:
    - podSelector:
        matchLabels:
          {{- include "statehouse.selector" (dict "root" $root "component" .component) | nindent 10 }}
  ports:
    {{- range .ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- end }}
{{- range $port, $clients := dict "public" "ingressController" "ops" "prometheus" "grpc" "runners" }}
{{- if hasKey $.connections $port }}
{{- with include "statehouse.peers" (index $policy $clients) | trim }}
- from:
    {{- . | nindent 4 }}
  ports:
    - {protocol: TCP, port: {{ index $.connections $port }}}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
