import type { Values } from "./helm.ts";

/**
 * Values that Helm must refuse to render, each with the text that it must print: the name of the value and, for a rule
 * that a schema cannot express, the remedy.
 */
export const badValues: readonly [name: string, values: Values, message: string][] = [
  // Required values that are missing.
  ["no image", { image: { repository: "" } }, "image.repository: is required; set the repository"],
  ["no public address", { settings: { PUBLIC_URL: "" } }, "PUBLIC_URL"],
  [
    "a null as public address",
    { settings: { PUBLIC_URL: null } },
    "settings.PUBLIC_URL: is required; set it.",
  ],
  ["no NATS", { settings: { NATS_URL: null } }, "settings.NATS_URL: is required; set it."],
  [
    "no bucket",
    { settings: { S3_BUCKET: null } },
    "settings.S3_BUCKET: is required with BLOB_STORE=s3; set it.",
  ],
  [
    "no address of S3",
    { settings: { S3_ENDPOINT: null } },
    "settings.S3_ENDPOINT: is required with BLOB_STORE=s3; set it.",
  ],
  [
    "no key for S3",
    { settingsFrom: { S3_ACCESS_KEY: null } },
    "state.settingsFrom.S3_ACCESS_KEY.existingSecret: is required with BLOB_STORE=s3 and S3_CREDENTIALS=keys; set the name and the key of a Secret.",
  ],
  [
    "no secret key for S3",
    { settingsFrom: { S3_SECRET_KEY: null } },
    "state.settingsFrom.S3_SECRET_KEY.existingSecret: is required with BLOB_STORE=s3 and S3_CREDENTIALS=keys",
  ],
  ...["access", "workspaces", "state"].map((service): [string, Values, string] => [
    `no database of ${service}`,
    { [service]: { settingsFrom: { DATABASE_URL: null } } },
    `${service}.settingsFrom.DATABASE_URL.existingSecret: is required; set the name and the key of a Secret.`,
  ]),
  [
    "no signing key of the gateway",
    { gateway: { settingsFrom: { ASSERTION_PRIVATE_KEY: null } } },
    "gateway.settingsFrom.ASSERTION_PRIVATE_KEY.existingSecret: is required",
  ],
  [
    "no public keys",
    { access: { settingsFrom: { ASSERTION_PUBLIC_KEYS: null } } },
    "settings.ASSERTION_PUBLIC_KEYS: is required",
  ],
  [
    "no sealing keys",
    { workspaces: { settingsFrom: { SEALING_KEYS: null } } },
    "workspaces.settingsFrom.SEALING_KEYS.existingSecret: is required",
  ],
  [
    "no keys of upload addresses",
    { state: { settingsFrom: { UPLOAD_TOKEN_KEYS: null } } },
    "state.settingsFrom.UPLOAD_TOKEN_KEYS.existingSecret: is required",
  ],
  [
    "a Secret without its key",
    { access: { settingsFrom: { DATABASE_URL: { existingSecret: { key: "" } } } } },
    "access.settingsFrom.DATABASE_URL.existingSecret.key: is not set; name the key of 'statehouse-access-database' that has the value.",
  ],
  [
    "a key without its Secret",
    { settingsFrom: { NATS_CA_FILE: { existingSecret: { key: "ca.crt" } } } },
    "settingsFrom.NATS_CA_FILE.existingSecret.name: is not set; name the object that has the key 'ca.crt'.",
  ],
  [
    "a ConfigMap without its key",
    { settingsFrom: { NATS_CA_FILE: { configMap: { name: "authority" } } } },
    "settingsFrom.NATS_CA_FILE.configMap.key: is not set",
  ],
  [
    "authorities without a key",
    { certificateAuthorities: { configMap: { name: "authority" } } },
    "certificateAuthorities.configMap.key: is not set",
  ],
  [
    "no certificate",
    { access: { settingsFrom: { GRPC_CERT_FILE: null } } },
    "access.settingsFrom.GRPC_CERT_FILE: is required with GRPC_TLS=on; set existingSecret or configMap",
  ],
  [
    "the URL of the schema's owner from a Secret without a key",
    {
      migrations: {
        state: { settingsFrom: { MIGRATE_DATABASE_URL: { existingSecret: { name: "a" } } } },
      },
    },
    "migrations.state.settingsFrom.MIGRATE_DATABASE_URL.existingSecret.key: is not set",
  ],
  [
    "no issuer",
    { grpcTls: { certManager: { enabled: true } } },
    "grpcTls.certManager.issuerRef.name: is required with grpcTls.certManager.enabled",
  ],
  [
    "no claim for a folder",
    { settings: { BLOB_STORE: "directory" }, state: { replicas: 1 } },
    "state.directory.existingClaim: is required with settings.BLOB_STORE=directory",
  ],
  // Values that contradict each other.
  [
    "tag and digest",
    { image: { tag: "1.0.0", digest: `sha256:${"0".repeat(64)}` } },
    "image.tag and image.digest: are both set; remove one of them.",
  ],
  [
    "two registries",
    { image: { registry: "one.example.com" }, global: { imageRegistry: "other.example.com" } },
    "image.registry and global.imageRegistry: are set to different registries",
  ],
  [
    "two sources of a setting",
    { settingsFrom: { S3_ACCESS_KEY: { configMap: { name: "other", key: "key" } } } },
    "settingsFrom.S3_ACCESS_KEY: has both existingSecret and configMap; remove one of them.",
  ],
  [
    "a value and a source",
    {
      settings: { NATS_USER: "statehouse" },
      settingsFrom: {
        NATS_PASSWORD: { existingSecret: { name: "nats", key: "password" } },
        NATS_USER: { existingSecret: { name: "nats", key: "user" } },
      },
    },
    "the setting NATS_USER is in settings and in settingsFrom; remove one of them.",
  ],
  [
    "a user of NATS without password",
    { settings: { NATS_USER: "statehouse" } },
    "access: the setting NATS_USER is set without NATS_PASSWORD; set both or neither.",
  ],
  [
    "a certificate without its key",
    { settingsFrom: { NATS_CERT_FILE: { existingSecret: { name: "nats", key: "tls.crt" } } } },
    "state: the setting NATS_CERT_FILE is set without NATS_KEY_FILE; set both or neither.",
  ],
  [
    "two ways into NATS",
    { settingsFrom: { NATS_TOKEN: { existingSecret: { name: "nats", key: "token" } } } },
    "workspaces: the settings NATS_TOKEN and NATS_NKEY_SEED are set; a service logs in to NATS with only one of them",
  ],
  [
    "an administrator's username without an email",
    { access: { settings: { FIRST_ADMIN_USERNAME: "alice" } } },
    "access: the setting FIRST_ADMIN_USERNAME is set without FIRST_ADMIN_EMAIL; set both or neither.",
  ],
  [
    "two replicas on a folder",
    { settings: { BLOB_STORE: "directory" }, state: { directory: { existingClaim: "blobs" } } },
    "state.replicas: is 2 with settings.BLOB_STORE=directory, which only one replica can use; set 1, or use s3.",
  ],
  [
    "autoscaling on a folder",
    {
      settings: { BLOB_STORE: "directory" },
      state: { autoscaling: { enabled: true }, directory: { existingClaim: "blobs" } },
    },
    "state.autoscaling.enabled: is true with settings.BLOB_STORE=directory",
  ],
  [
    "a folder beside a bucket",
    { state: { directory: { existingClaim: "blobs" } } },
    "state.directory.existingClaim: is set with settings.BLOB_STORE=s3",
  ],
  [
    "both limits of disruption",
    { gateway: { podDisruptionBudget: { minAvailable: 1, maxUnavailable: 1 } } },
    "gateway.podDisruptionBudget: has minAvailable and maxUnavailable; remove one of them.",
  ],
  [
    "a disruption budget without room",
    { state: { podDisruptionBudget: { minAvailable: 2 } } },
    "state.podDisruptionBudget.minAvailable: is 2 of 2 replicas, which prevents the draining of nodes",
  ],
  [
    "a disruption budget of all replicas",
    { gateway: { podDisruptionBudget: { minAvailable: "100%" } } },
    "gateway.podDisruptionBudget.minAvailable: is 100%, which prevents the draining of nodes",
  ],
  [
    "no disruption at all",
    { access: { podDisruptionBudget: { maxUnavailable: 0 } } },
    "access.podDisruptionBudget.maxUnavailable: is 0, which prevents the draining of nodes; set at least 1.",
  ],
  [
    "limits of autoscaling that cross",
    { gateway: { autoscaling: { enabled: true, minReplicas: 9 } } },
    "gateway.autoscaling.minReplicas: is greater than maxReplicas; set at most 6.",
  ],
  [
    "one port for two listeners",
    { state: { settings: { OBJECT_PORT: 9203 } } },
    "state.settings.OPS_PORT: is 9203, which is also the value of OBJECT_PORT; set different ports.",
  ],
  [
    "a setting as environment variable",
    { pod: { extraEnv: [{ name: "LOG_LEVEL", value: "debug" }] } },
    "pod.extraEnv: has the setting LOG_LEVEL; set settings.LOG_LEVEL or settingsFrom.LOG_LEVEL instead.",
  ],
  [
    "an export to nowhere",
    { operations: { export: { enabled: true } } },
    "operations.export.existingClaim: is required with operations.export.enabled",
  ],
  ["a schedule in words", { operations: { fsck: { schedule: "every Sunday" } } }, "schedule"],
  [
    "a route without a Gateway",
    { httpRoute: { enabled: true } },
    "httpRoute.parentRefs: is required with httpRoute.enabled; name the Gateway that serves the route.",
  ],
  [
    "an Ingress that the policies refuse",
    { ingress: { enabled: true, tlsElsewhere: true } },
    "networkPolicy.ingressController.namespaces: is required with ingress.enabled or httpRoute.enabled",
  ],
  [
    "a monitor that the policies refuse",
    { podMonitor: { enabled: true } },
    "networkPolicy.prometheus.namespaces: is required with podMonitor.enabled",
  ],
  [
    "an Ingress without certificate",
    { ingress: { enabled: true } },
    "ingress.tls: is empty, but PUBLIC_URL begins with https; name the Secret of the certificate",
  ],
  [
    "policies without DNS",
    { networkPolicy: { dns: { to: [] } } },
    "networkPolicy.dns.to: is empty, which prevents the resolution of names",
  ],
  [
    "certificates without TLS",
    {
      settings: { GRPC_TLS: "off" },
      grpcTls: { certManager: { enabled: true, issuerRef: { name: "authority" } } },
    },
    "grpcTls.certManager.enabled: is true with settings.GRPC_TLS=off; remove one of them.",
  ],
  [
    "TLS off at one service only",
    { state: { settings: { GRPC_TLS: "off" } } },
    "settings.GRPC_TLS: differs between the services",
  ],
  // Secrets in the values.
  [
    "a database with its password",
    { access: { settings: { DATABASE_URL: "postgresql://statehouse:hunter2@db/access" } } },
    "settings.DATABASE_URL: is a secret, which all users who can read the release would see; put it into a Secret and set settingsFrom.DATABASE_URL.existingSecret.",
  ],
  ["a password", { settings: { NATS_PASSWORD: "hunter2" } }, "settings.NATS_PASSWORD: is a secret"],
  [
    "a key",
    { state: { settings: { SEALING_KEYS: "1:aaaa" } } },
    "settings.SEALING_KEYS: is a secret",
  ],
  // Misspelt names of values.
  ["a misspelt value", { publicUrl: "https://statehouse.example.com" }, "publicUrl"],
  ["a misspelt setting", { settings: { LOGLEVEL: "debug" } }, "LOGLEVEL"],
  [
    "a setting that another service has",
    { gateway: { settings: { TOKEN_MAX_DAYS: 30 } } },
    "TOKEN_MAX_DAYS",
  ],
  ["a port for all services", { settings: { OPS_PORT: 9000 } }, "OPS_PORT"],
  [
    "a misspelt source",
    { settingsFrom: { NATS_CREDENTIALS: { secret: { name: "nats", key: "creds" } } } },
    "secret",
  ],
  ["a misspelt service", { gatway: { replicas: 2 } }, "gatway"],
  ["a misspelt value of a pod", { pod: { nodeselector: {} } }, "nodeselector"],
  ["a misspelt value of a service's pod", { state: { pod: { tolerationz: [] } } }, "tolerationz"],
  ["a misspelt resource", { pod: { resources: { request: {} } } }, "request"],
  [
    "autoscaling of a service that has none",
    { access: { autoscaling: { enabled: true } } },
    "autoscaling",
  ],
  ["a misspelt peer", { networkPolicy: { prometheus: { namespace: "monitoring" } } }, "namespace"],
  [
    "a namespace with capitals",
    { networkPolicy: { prometheus: { namespaces: ["Monitoring"] } } },
    "namespaces",
  ],
  // Values of the wrong type, or outside the permitted values.
  ["an unknown edition", { settings: { EDITION: "enterprise" } }, "EDITION"],
  ["an unknown level of the log", { settings: { LOG_LEVEL: "loud" } }, "LOG_LEVEL"],
  ["on without quotes", { settings: { NATS_TLS: true } }, "NATS_TLS"],
  [
    "an address without protocol",
    { settings: { PUBLIC_URL: "statehouse.example.com" } },
    "PUBLIC_URL",
  ],
  ["text as number", { state: { settings: { PENDING_WINDOW: "1h" } } }, "PENDING_WINDOW"],
  ["a negative number", { state: { settings: { SOFT_DELETED_DAYS: -1 } } }, "SOFT_DELETED_DAYS"],
  ["too many copies of the stream", { settings: { STREAM_REPLICAS: 7 } }, "STREAM_REPLICAS"],
  ["port 0", { gateway: { settings: { PORT: 0 } } }, "PORT"],
  ["text as replicas", { gateway: { replicas: "two" } }, "replicas"],
  ["negative replicas", { state: { replicas: -1 } }, "replicas"],
  ["the tag latest", { image: { tag: "latest" } }, "image.tag: is latest"],
  ["half a digest", { image: { digest: "sha256:abc" } }, "digest"],
  ["an unknown pull policy", { image: { pullPolicy: "Sometimes" } }, "pullPolicy"],
  ["a tag in the registry", { image: { registry: "registry.example.com/platform" } }, "registry"],
  ["root", { pod: { runAsUser: 0 } }, "runAsUser"],
  [
    "a share of more than everything",
    { gateway: { podDisruptionBudget: { maxUnavailable: "120%" } } },
    "maxUnavailable",
  ],
  ["a CPU target in percent", { gateway: { autoscaling: { targetCpu: "80%" } } }, "targetCpu"],
  ["a name too long for its Jobs", { fullnameOverride: "a".repeat(35) }, "fullnameOverride"],
  ["an environment variable without name", { pod: { extraEnv: [{ value: "x" }] } }, "extraEnv"],
  ["a collector without protocol", { telemetry: { endpoint: "collector:4318" } }, "endpoint"],
  ["numbers as labels", { commonLabels: { team: 7 } }, "commonLabels"],
  ["a port above 65535", { networkPolicy: { database: { ports: [70_000] } } }, "ports"],
  ["an annotation that is no text", { ingress: { annotations: { a: true } } }, "annotations"],
  ["a timeout without unit", { httpRoute: { timeouts: { request: "60" } } }, "timeouts"],
  ["a duration in words", { grpcTls: { certManager: { duration: "90 days" } } }, "duration"],
];
