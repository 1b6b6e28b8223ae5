{{/* The ports of a service's container, as a JSON object of numbers by name: dict "root" "service". */}}
{{- define "statehouse.ports" -}}
{{- $declared := include "statehouse.declared" . | fromJson -}}
{{- $result := dict -}}
{{- range $setting, $name := dict "PORT" "http" "GRPC_PORT" "grpc" "OBJECT_PORT" "objects" "OPS_PORT" "ops" -}}
{{- if hasKey $declared $setting -}}
{{- $_ := set $result $name (include "statehouse.port" (dict "root" $.root "service" $.service "setting" $setting) | int) -}}
{{- end -}}
{{- end -}}
{{- toJson $result -}}
{{- end -}}

{{/* Ports, probes and lifecycle of a service's container: dict "root" "service". */}}
{{- define "statehouse.container" -}}
ports:
  {{- range $name, $port := include "statehouse.ports" . | fromJson }}
  - name: {{ $name }}
    containerPort: {{ $port }}
  {{- end }}
startupProbe:
  httpGet: {path: /healthz, port: ops}
  periodSeconds: 1
  failureThreshold: 120
livenessProbe:
  httpGet: {path: /healthz, port: ops}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: ops}
  periodSeconds: 5
  timeoutSeconds: 5
  failureThreshold: 2
lifecycle:
  preStop:
    sleep: {seconds: {{ include "statehouse.text" .root.Values.preStopSeconds }}}
{{- end -}}

{{/* The objects of one service: dict "root" "service". */}}
{{- define "statehouse.service" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $values := index $root.Values $service -}}
{{- $autoscaling := $values.autoscaling | default dict -}}
{{- $oneVolume := and (eq $service "state") (ne $root.Values.state.directory.existingClaim "") -}}
{{- $pod := include "statehouse.podValues" (dict "root" $root "own" $values.pod) | fromJson -}}
{{- $given := dict "root" $root "service" $service "component" $service "pod" $pod -}}
{{- /* A pod continues to serve while proxies remove it (preStop and DRAIN_SECONDS), then finishes its requests. */ -}}
{{- $grace := add 5 ($root.Values.preStopSeconds | int) -}}
{{- range $setting, $default := dict "DRAIN_SECONDS" "5" "SHUTDOWN_TIMEOUT" "20" -}}
{{- $grace = add $grace (include "statehouse.setting" (dict "root" $root "service" $service "setting" $setting) | default $default | int) -}}
{{- end -}}
{{- $volumes := list -}}
{{- $mounts := list -}}
{{- if $oneVolume -}}
{{- $volumes = list (dict "name" "blobs" "persistentVolumeClaim" (dict "claimName" $values.directory.existingClaim)) -}}
{{- $mounts = list (dict "name" "blobs" "mountPath" "/var/lib/statehouse") -}}
{{- end -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "statehouse.metadata" $given | nindent 2 }}
spec:
  {{- if not $autoscaling.enabled }}
  replicas: {{ include "statehouse.text" $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  strategy:
    {{- if $oneVolume }}
    # Two pods must not write to one folder.
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
    {{- end }}
  selector:
    matchLabels:
      {{- include "statehouse.selector" $given | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "statehouse.podLabels" $given | nindent 8 }}
      annotations:
        kubectl.kubernetes.io/default-container: statehouse
        {{- with $root.Values.secretsRevision }}
        statehouse/secrets-revision: {{ . | quote }}
        {{- end }}
        {{- with $pod.annotations }}
        {{- tpl (toYaml .) $root | nindent 8 }}
        {{- end }}
    spec:
      {{- include "statehouse.podSpec" (merge (dict "args" (list $service) "container" (include "statehouse.container" $given) "grace" $grace "volumes" $volumes "mounts" $mounts) $given) | nindent 6 }}
{{- if not $values.serviceAccount.name }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "statehouse.metadata" (merge (dict "annotations" $values.serviceAccount.annotations) $given) | nindent 2 }}
automountServiceAccountToken: false
{{- end }}
{{- $ports := include "statehouse.ports" $given | fromJson }}
{{- range $name, $target := dict "http" "" "grpc" "" "objects" "-objects" }}
{{- if hasKey $ports $name }}
---
apiVersion: v1
kind: Service
metadata:
  {{- include "statehouse.metadata" (merge (dict "name" (printf "%s%s" (include "statehouse.name" $given) $target) "annotations" $values.service.annotations) $given) | nindent 2 }}
spec:
  {{- if eq $name "grpc" }}
  # A headless service: its clients balance calls over the addresses of the pods.
  clusterIP: None
  {{- else }}
  type: {{ $values.service.type }}
  {{- end }}
  selector:
    {{- include "statehouse.selector" $given | nindent 4 }}
  ports:
    - name: {{ $name }}
      {{- if eq $name "grpc" }}
      port: {{ index $ports $name }}
      {{- else }}
      port: {{ include "statehouse.text" $values.service.port }}
      {{- end }}
      targetPort: {{ $name }}
      {{- if eq $name "grpc" }}
      # Meshes and proxies must not treat connections with mutual TLS as plain HTTP/2.
      appProtocol: {{ eq (include "statehouse.setting" (merge (dict "setting" "GRPC_TLS") $given)) "off" | ternary "kubernetes.io/h2c" "https" }}
      {{- else }}
      appProtocol: http
      {{- end }}
{{- end }}
{{- end }}
{{- $replicas := $autoscaling.enabled | default false | ternary ($autoscaling.minReplicas | int) ($values.replicas | int) }}
{{- if and $values.podDisruptionBudget.enabled (gt $replicas 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "statehouse.metadata" $given | nindent 2 }}
spec:
  {{- if not (kindIs "invalid" $values.podDisruptionBudget.minAvailable) }}
  minAvailable: {{ include "statehouse.text" $values.podDisruptionBudget.minAvailable }}
  {{- else if not (kindIs "invalid" $values.podDisruptionBudget.maxUnavailable) }}
  maxUnavailable: {{ include "statehouse.text" $values.podDisruptionBudget.maxUnavailable }}
  {{- else }}
  maxUnavailable: 1
  {{- end }}
  # A pod that is not ready does not keep a node from being drained.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "statehouse.selector" $given | nindent 6 }}
{{- end }}
{{- if $autoscaling.enabled }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "statehouse.metadata" $given | nindent 2 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ include "statehouse.name" $given }}
  minReplicas: {{ include "statehouse.text" $autoscaling.minReplicas }}
  maxReplicas: {{ include "statehouse.text" $autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target:
          type: AverageValue
          averageValue: {{ include "statehouse.text" $autoscaling.targetCpu }}
  {{- with $autoscaling.behavior }}
  behavior:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
