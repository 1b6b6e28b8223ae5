{{/* Problems of one setting's source: dict "path" "source". One line each. */}}
{{- define "statehouse.sourceProblems" -}}
{{- $path := .path -}}
{{- $source := .source | default dict -}}
{{- $secret := dig "existingSecret" "name" "" $source -}}
{{- $configMap := dig "configMap" "name" "" $source -}}
{{- if and $secret $configMap }}
{{ $path }}: has both existingSecret and configMap; remove one of them.
{{- end }}
{{- range $kind := list "existingSecret" "configMap" }}
{{- $name := dig $kind "name" "" $source }}
{{- $key := dig $kind "key" "" $source }}
{{- if and $name (not $key) }}
{{ $path }}.{{ $kind }}.key: is not set; name the key of '{{ $name }}' that has the value.
{{- else if and $key (not $name) (not (and $secret $configMap)) (not (or $secret $configMap)) }}
{{ $path }}.{{ $kind }}.name: is not set; name the object that has the key '{{ $key }}'.
{{- end }}
{{- end }}
{{- end -}}

{{/* Returns the problem of a missing setting, and where to set it: dict "service" "name" "declared" "reason". */}}
{{- define "statehouse.remedy" -}}
{{- if .declared.secret -}}
{{ .service }}.settingsFrom.{{ .name }}.existingSecret: is required{{ .reason }}; set the name and the key of a Secret. {{ .declared.description }}
{{- else if .declared.file -}}
{{ .service }}.settingsFrom.{{ .name }}: is required{{ .reason }}; set existingSecret or configMap, each with name and key. {{ .declared.description }}
{{- else -}}
settings.{{ .name }}: is required{{ .reason }}; set it. {{ .declared.description }}
{{- end -}}
{{- end -}}

{{/* Problems of the settings of one service: dict "root" "service". */}}
{{- define "statehouse.settingsProblems" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $declared := include "statehouse.declared" . | fromJson -}}
{{- $settings := include "statehouse.settings" . | fromJson -}}
{{- $from := include "statehouse.settingsFrom" . | fromJson -}}
{{- range $name, $declaration := $declared }}
{{- $given := or (hasKey $from $name) (ne (index $settings $name | default "") "") }}
{{- $arguments := dict "service" $service "name" $name "declared" $declaration "reason" "" }}
{{- if and (or $declaration.required (eq $name "NATS_URL")) (not $given) }}
{{ include "statehouse.remedy" $arguments }}
{{- end }}
{{- with $declaration.neededWith }}
{{- $needed := not $given }}
{{- $conditions := list }}
{{- range $setting, $value := . }}
{{- if ne (include "statehouse.setting" (dict "root" $root "service" $service "setting" $setting)) $value }}{{ $needed = false }}{{ end }}
{{- $conditions = append $conditions (printf "%s=%s" $setting $value) }}
{{- end }}
{{- if $needed }}
{{- if eq $name "BLOB_DIRECTORY" }}
state.directory.existingClaim: is required with settings.BLOB_STORE=directory; name a PersistentVolumeClaim, or set BLOB_STORE to s3.
{{- else }}
{{ include "statehouse.remedy" (merge (dict "reason" (printf " with %s" (join " and " $conditions))) $arguments) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (hasKey $from $name) (hasKey $settings $name) }}
{{ $service }}: the setting {{ $name }} is in settings and in settingsFrom; remove one of them.
{{- end }}
{{- if and $declaration.secret (hasKey $settings $name) }}
settings.{{ $name }}: is a secret, which all users who can read the release would see; put it into a Secret and set settingsFrom.{{ $name }}.existingSecret.
{{- end }}
{{- end }}
{{- range $pair := list (list "NATS_USER" "NATS_PASSWORD") (list "NATS_PASSWORD" "NATS_USER") (list "NATS_CERT_FILE" "NATS_KEY_FILE") (list "NATS_KEY_FILE" "NATS_CERT_FILE") (list "FIRST_ADMIN_USERNAME" "FIRST_ADMIN_EMAIL") (list "FIRST_ADMIN_EMAIL" "FIRST_ADMIN_USERNAME") }}
{{- $one := first $pair }}
{{- $other := last $pair }}
{{- if and (hasKey $declared $one) (or (hasKey $from $one) (hasKey $settings $one)) (not (or (hasKey $from $other) (hasKey $settings $other))) }}
{{ $service }}: the setting {{ $one }} is set without {{ $other }}; set both or neither.
{{- end }}
{{- end }}
{{- $logins := list }}
{{- range $login := list "NATS_USER" "NATS_TOKEN" "NATS_NKEY_SEED" "NATS_CREDENTIALS" }}
{{- if or (hasKey $from $login) (hasKey $settings $login) }}{{ $logins = append $logins $login }}{{ end }}
{{- end }}
{{- if gt (len $logins) 1 }}
{{ $service }}: the settings {{ join " and " $logins }} are set; a service logs in to NATS with only one of them: remove the others.
{{- end }}
{{- end -}}

{{/* Every problem of the values, one line each. */}}
{{- define "statehouse.problems" -}}
{{- $ports := list "PORT" "GRPC_PORT" "OBJECT_PORT" "OPS_PORT" }}
{{- if not .Values.image.repository }}
image.repository: is required; set the repository that has the image, such as registry.example.com/statehouse.
{{- end }}
{{- if eq .Values.image.tag "latest" }}
image.tag: is latest, which names another image later, while migrations belong to one image; set a fixed tag or image.digest.
{{- end }}
{{- if and .Values.image.tag .Values.image.digest }}
image.tag and image.digest: are both set; remove one of them.
{{- end }}
{{- if and .Values.image.registry .Values.global.imageRegistry (ne .Values.image.registry .Values.global.imageRegistry) }}
image.registry and global.imageRegistry: are set to different registries; remove one of them.
{{- end }}
{{- $sources := dict "settingsFrom" .Values.settingsFrom }}
{{- range $service := list "gateway" "access" "workspaces" "state" }}
{{- $values := index $.Values $service }}
{{ include "statehouse.settingsProblems" (dict "root" $ "service" $service) }}
{{- $_ := set $sources (printf "%s.settingsFrom" $service) $values.settingsFrom }}
{{- $used := dict }}
{{- $declared := include "statehouse.declared" (dict "root" $ "service" $service) | fromJson }}
{{- range $port := $ports }}
{{- if hasKey $declared $port }}
{{- $number := include "statehouse.port" (dict "root" $ "service" $service "setting" $port) }}
{{- if hasKey $used $number }}
{{ $service }}.settings.{{ $port }}: is {{ $number }}, which is also the value of {{ index $used $number }}; set different ports.
{{- end }}
{{- $_ := set $used $number $port }}
{{- end }}
{{- end }}
{{- $autoscaling := $values.autoscaling | default dict }}
{{- $budget := $values.podDisruptionBudget }}
{{- if and (not (kindIs "invalid" $budget.minAvailable)) (not (kindIs "invalid" $budget.maxUnavailable)) }}
{{ $service }}.podDisruptionBudget: has minAvailable and maxUnavailable; remove one of them.
{{- end }}
{{- $replicas := $autoscaling.enabled | default false | ternary ($autoscaling.minReplicas | int) ($values.replicas | int) }}
{{- if and $budget.enabled (gt $replicas 1) (eq (include "statehouse.text" $budget.minAvailable) "100%") }}
{{ $service }}.podDisruptionBudget.minAvailable: is 100%, which prevents the draining of nodes; set less, or maxUnavailable.
{{- end }}
{{- if and $budget.enabled (gt $replicas 1) (or (kindIs "int64" $budget.minAvailable) (kindIs "float64" $budget.minAvailable)) }}
{{- if ge ($budget.minAvailable | int) $replicas }}
{{ $service }}.podDisruptionBudget.minAvailable: is {{ include "statehouse.text" $budget.minAvailable }} of {{ $replicas }} replicas, which prevents the draining of nodes; set less, or maxUnavailable.
{{- end }}
{{- end }}
{{- if and $budget.enabled (gt $replicas 1) (not (kindIs "invalid" $budget.maxUnavailable)) }}
{{- if has (include "statehouse.text" $budget.maxUnavailable) (list "0" "0%") }}
{{ $service }}.podDisruptionBudget.maxUnavailable: is 0, which prevents the draining of nodes; set at least 1.
{{- end }}
{{- end }}
{{- if and $autoscaling.enabled (gt ($autoscaling.minReplicas | int) ($autoscaling.maxReplicas | int)) }}
{{ $service }}.autoscaling.minReplicas: is greater than maxReplicas; set at most {{ include "statehouse.text" $autoscaling.maxReplicas }}.
{{- end }}
{{- range $variable := concat ($.Values.pod.extraEnv | default list) ($values.pod.extraEnv | default list) }}
{{- if hasKey $declared $variable.name }}
pod.extraEnv: has the setting {{ $variable.name }}; set settings.{{ $variable.name }} or settingsFrom.{{ $variable.name }} instead.
{{- end }}
{{- end }}
{{- end }}
{{- $store := include "statehouse.setting" (dict "root" . "service" "state" "setting" "BLOB_STORE") }}
{{- if eq $store "directory" }}
{{- if .Values.state.autoscaling.enabled }}
state.autoscaling.enabled: is true with settings.BLOB_STORE=directory, which only one replica can use; set false, or use s3.
{{- else if gt (.Values.state.replicas | int) 1 }}
state.replicas: is {{ include "statehouse.text" .Values.state.replicas }} with settings.BLOB_STORE=directory, which only one replica can use; set 1, or use s3.
{{- end }}
{{- else if .Values.state.directory.existingClaim }}
state.directory.existingClaim: is set with settings.BLOB_STORE={{ $store }}; set BLOB_STORE to directory, or remove the claim.
{{- end }}
{{- if and .Values.grpcTls.certManager.enabled (eq (include "statehouse.setting" (dict "root" . "service" "gateway" "setting" "GRPC_TLS")) "off") }}
grpcTls.certManager.enabled: is true with settings.GRPC_TLS=off; remove one of them.
{{- end }}
{{- $tls := list }}
{{- range $service := list "gateway" "access" "workspaces" "state" }}
{{- $tls = append $tls (include "statehouse.setting" (dict "root" $ "service" $service "setting" "GRPC_TLS")) }}
{{- end }}
{{- if gt (len (uniq $tls)) 1 }}
settings.GRPC_TLS: differs between the services, which then could not connect; set it once, in settings.
{{- end }}
{{- if and .Values.grpcTls.certManager.enabled (not (dig "name" "" .Values.grpcTls.certManager.issuerRef)) }}
grpcTls.certManager.issuerRef.name: is required with grpcTls.certManager.enabled; name the Issuer or ClusterIssuer that signs the certificates.
{{- end }}
{{- if and .Values.operations.export.enabled (not .Values.operations.export.existingClaim) }}
operations.export.existingClaim: is required with operations.export.enabled; name the PersistentVolumeClaim that receives the states.
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
httpRoute.parentRefs: is required with httpRoute.enabled; name the Gateway that serves the route.
{{- end }}
{{- $controller := .Values.networkPolicy.ingressController }}
{{- if and .Values.networkPolicy.enabled (or .Values.ingress.enabled .Values.httpRoute.enabled) (not (or $controller.namespaces $controller.from)) }}
networkPolicy.ingressController.namespaces: is required with ingress.enabled or httpRoute.enabled, because the policies would refuse the controller; name its namespace.
{{- end }}
{{- $prometheus := .Values.networkPolicy.prometheus }}
{{- if and .Values.networkPolicy.enabled .Values.podMonitor.enabled (not (or $prometheus.namespaces $prometheus.from)) }}
networkPolicy.prometheus.namespaces: is required with podMonitor.enabled, because the policies would refuse Prometheus; name its namespace.
{{- end }}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.dns.to) }}
networkPolicy.dns.to: is empty, which prevents the resolution of names; name the peers of the cluster's DNS.
{{- end }}
{{- $public := include "statehouse.setting" (dict "root" . "service" "gateway" "setting" "PUBLIC_URL") }}
{{- if and .Values.ingress.enabled (not .Values.ingress.tls) (hasPrefix "https:" $public) (not .Values.ingress.tlsElsewhere) }}
ingress.tls: is empty, but PUBLIC_URL begins with https; name the Secret of the certificate, or set ingress.tlsElsewhere if the controller has one.
{{- end }}
{{- range $service := list "access" "workspaces" "state" }}
{{- $_ := set $sources (printf "migrations.%s.settingsFrom" $service) (index $.Values.migrations $service).settingsFrom }}
{{- end }}
{{- range $path, $values := $sources }}
{{- range $name, $source := $values }}
{{- if not (and (eq $name "DATABASE_URL") (eq (dig "existingSecret" "name" "" ($source | default dict)) "")) }}
{{ include "statehouse.sourceProblems" (dict "path" (printf "%s.%s" $path $name) "source" $source) }}
{{- end }}
{{- end }}
{{- end }}
{{ include "statehouse.sourceProblems" (dict "path" "certificateAuthorities" "source" .Values.certificateAuthorities) }}
{{- end -}}

{{- define "statehouse.validate" -}}
{{- $lines := list -}}
{{- range $line := include "statehouse.problems" . | splitList "\n" -}}
{{- with trim $line -}}{{- $lines = append $lines . -}}{{- end -}}
{{- end -}}
{{- with $lines | uniq -}}
{{- fail (printf "\n\nThe values of this release are invalid:\n  %s\n\nREADME.md of the chart describes each value.\n" (join "\n  " .)) -}}
{{- end -}}
{{- end -}}
