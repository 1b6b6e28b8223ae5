const peers = { namespaces: ["edge"], from: [{ ipBlock: { cidr: "10.0.0.0/16" } }] };
/** The security context that the Pod Security profile "restricted" requires of every container. */
const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
const pod = {
  labels: { "example.com/own": "label" },
  annotations: { "example.com/own": "annotation of {{ .Release.Name }}" },
  resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "2Gi" } },
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "dedicated", operator: "Exists", effect: "NoSchedule" }],
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          podAffinityTerm: {
            topologyKey: "kubernetes.io/hostname",
            labelSelector: { matchLabels: { "app.kubernetes.io/instance": "{{ .Release.Name }}" } },
          },
        },
      ],
    },
  },
  priorityClassName: "platform",
  runtimeClassName: "gvisor",
  runAsUser: 1000,
  runAsGroup: 1000,
  extraEnv: [{ name: "NODE_OPTIONS", value: "--max-old-space-size=768" }],
  extraEnvFrom: [{ configMapRef: { name: "{{ .Release.Name }}-own" } }],
  extraVolumes: [{ name: "own", emptyDir: {} }],
  extraVolumeMounts: [{ name: "own", mountPath: "/own" }],
  extraContainers: [{ name: "beside", image: "registry.example.com/beside:1", securityContext }],
  extraInitContainers: [
    { name: "before", image: "registry.example.com/before:1", securityContext },
  ],
};

/** Values that enable every feature, and that set every value without a default. */
export const everything = {
  global: { imageRegistry: "registry.internal.example.com" },
  image: {
    digest: `sha256:${"a".repeat(64)}`,
    repository: "platform/statehouse",
    pullPolicy: "Always",
  },
  imagePullSecrets: [{ name: "registry" }],
  commonLabels: { team: "platform" },
  commonAnnotations: { owner: "sre" },
  certificateAuthorities: { configMap: { name: "authority", key: "ca.crt" } },
  secretsRevision: "2",
  grpcTls: {
    certManager: { enabled: true, issuerRef: { name: "platform", kind: "ClusterIssuer" } },
  },
  telemetry: { endpoint: "http://collector.monitoring:4318" },
  pod,
  gateway: {
    service: { type: "LoadBalancer", port: 8080, annotations: { "example.com/own": "service" } },
    autoscaling: { enabled: true },
    serviceAccount: { annotations: { "example.com/role": "gateway" } },
  },
  access: { pod: { priorityClassName: "high" }, podDisruptionBudget: { minAvailable: "50%" } },
  workspaces: { serviceAccount: { name: "existing" } },
  state: { autoscaling: { enabled: true }, podDisruptionBudget: { maxUnavailable: 1 } },
  ingress: {
    enabled: true,
    className: "nginx",
    tls: [{ hosts: ["statehouse.example.com"], secretName: "tls" }],
  },
  httpRoute: { enabled: true, parentRefs: [{ name: "public", namespace: "edge" }] },
  networkPolicy: {
    ingressController: peers,
    prometheus: peers,
    runners: peers,
    database: { to: [{ ipBlock: { cidr: "10.1.0.0/16" } }], ports: [5432, 6432] },
    extraEgress: [{ to: [{ ipBlock: { cidr: "10.2.0.0/16" } }] }],
  },
  podMonitor: {
    enabled: true,
    interval: "15s",
    scrapeTimeout: "10s",
    labels: { release: "prometheus" },
  },
  prometheusRule: { enabled: true },
  dashboards: { enabled: true },
  operations: {
    fsck: { enabled: true },
    collectDryRun: { enabled: true },
    export: { enabled: true, existingClaim: "exports" },
    auditVerify: { enabled: true, heads: { existingClaim: "audit-heads" } },
  },
  preflight: { enabled: true },
  extraObjects: [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "{{ .Release.Name }}-own",
        labels: { "app.kubernetes.io/component": "own" },
      },
      data: { OWN: "value" },
    },
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n",
  ],
} as const;
