import { services, settingSchemas, sharedSettingSchemas } from "./declared-settings.ts";

type Schema = Record<string, unknown>;

const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more,
});
const ref = (name: string): Schema => ({ $ref: `#/definitions/${name}` });
const text: Schema = { type: "string" };
const flag: Schema = { type: "boolean" };
const texts: Schema = { type: "object", additionalProperties: { type: "string" } };
const objects: Schema = { type: "array", items: { type: "object" } };
const count = (minimum: number): Schema => ({ type: "integer", minimum });
const anyObject: Schema = { type: "object" };

const NAME = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";
const DURATION = "^([0-9]+(h|m|s))+$";

const podProperties: Record<string, Schema> = {
  labels: texts,
  annotations: texts,
  resources: object({ requests: ref("quantities"), limits: ref("quantities"), claims: objects }),
  nodeSelector: texts,
  tolerations: objects,
  affinity: anyObject,
  topologySpreadConstraints: objects,
  priorityClassName: text,
  runtimeClassName: text,
  runAsUser: count(1),
  runAsGroup: count(1),
  extraEnv: {
    type: "array",
    items: object({ name: text, value: text, valueFrom: anyObject }, { required: ["name"] }),
  },
  extraEnvFrom: objects,
  extraVolumes: objects,
  extraVolumeMounts: objects,
  extraContainers: objects,
  extraInitContainers: objects,
};

const scheduled: Record<string, Schema> = {
  enabled: flag,
  schedule: { type: "string", pattern: "^(@\\w+|(\\S+ ){4}\\S+)$" },
  pod: ref("pod"),
};

const sourceOf = (names: readonly string[]): Schema =>
  object(Object.fromEntries(names.map((name) => [name, ref("source")])));

const definitions: Record<string, Schema> = {
  quantities: {
    type: "object",
    additionalProperties: {
      anyOf: [
        { type: "number" },
        { type: "string", pattern: "^[0-9.]+([eEinukKMGTP]|m|Ki|Mi|Gi|Ti|Pi)*$" },
      ],
    },
  },
  reference: object({
    name: { type: "string", pattern: `(^$)|(${NAME})` },
    key: { type: "string", pattern: "^[-._a-zA-Z0-9]*$" },
  }),
  source: {
    description: "Where a value is: a key of a Secret or of a ConfigMap.",
    anyOf: [
      { type: "null" },
      object({
        existingSecret: { anyOf: [{ type: "null" }, ref("reference")] },
        configMap: { anyOf: [{ type: "null" }, ref("reference")] },
      }),
    ],
  },
  pod: object(podProperties),
  serviceAccount: object({ name: text, annotations: texts }),
  podDisruptionBudget: object({
    enabled: flag,
    minAvailable: ref("countOrShare"),
    maxUnavailable: ref("countOrShare"),
  }),
  percent: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 100 },
  duration: { type: "string", pattern: "^([0-9]{1,5}(h|m|s|ms)){1,4}$" },
  clients: object({
    namespaces: { type: "array", items: { type: "string", pattern: NAME } },
    from: objects,
  }),
  store: object({
    to: objects,
    ports: { type: "array", items: { type: "integer", minimum: 1, maximum: 65_535 } },
  }),
  countOrShare: {
    anyOf: [
      { type: "null" },
      { type: "integer", minimum: 0 },
      { type: "string", pattern: "^(100|[0-9]{1,2})%$" },
    ],
  },
  autoscaling: object({
    enabled: flag,
    minReplicas: count(1),
    maxReplicas: count(1),
    targetCpu: { type: "string", pattern: "^[0-9]+m?$" },
    behavior: anyObject,
  }),
};

const addressed = {
  service: object({
    type: { enum: ["ClusterIP", "NodePort", "LoadBalancer"] },
    port: count(1),
    annotations: texts,
  }),
};
const own: Record<(typeof services)[number], Record<string, Schema>> = {
  gateway: { ...addressed, autoscaling: ref("autoscaling") },
  access: { service: object({ annotations: texts }) },
  workspaces: { service: object({ annotations: texts }) },
  state: {
    ...addressed,
    autoscaling: ref("autoscaling"),
    directory: object({ existingClaim: text }),
  },
};

const serviceSchema = (service: (typeof services)[number]): Schema => {
  const settings = settingSchemas(service);
  return object({
    replicas: count(0),
    settings: object(settings),
    settingsFrom: sourceOf(Object.keys(settings)),
    pod: ref("pod"),
    serviceAccount: ref("serviceAccount"),
    podDisruptionBudget: ref("podDisruptionBudget"),
    ...own[service],
  });
};

/**
 * Returns the schema of values.yaml. The schema is closed, except for `global`: `helm install` fails if a value has a
 * name that the schema does not contain.
 */
export function valuesSchema(): Schema {
  const shared = sharedSettingSchemas();
  const migrating = settingSchemas("migrate");
  const migrations = object({
    settings: object(migrating),
    settingsFrom: sourceOf(Object.keys(migrating)),
  });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the chart statehouse",
    definitions,
    ...object({
      global: { type: "object", properties: { imageRegistry: text } },
      image: object({
        registry: { type: "string", pattern: "^[^/]*$" },
        repository: { type: "string", pattern: "^[a-z0-9./:_-]*$" },
        tag: { type: "string", pattern: "^[A-Za-z0-9._-]{0,128}$" },
        digest: { type: "string", pattern: "^(sha256:[0-9a-f]{64})?$" },
        pullPolicy: { enum: ["Always", "IfNotPresent", "Never"] },
      }),
      imagePullSecrets: { type: "array", items: object({ name: text }, { required: ["name"] }) },
      nameOverride: { type: "string", pattern: `(^$)|(${NAME})`, maxLength: 63 },
      fullnameOverride: { type: "string", pattern: `(^$)|(${NAME})`, maxLength: 34 },
      commonLabels: texts,
      commonAnnotations: texts,
      settings: object(shared),
      settingsFrom: sourceOf(Object.keys(shared)),
      certificateAuthorities: ref("source"),
      secretsRevision: text,
      grpcTls: object({
        certManager: object({
          enabled: flag,
          issuerRef: object({ name: text, kind: text, group: text }),
          duration: { type: "string", pattern: DURATION },
          renewBefore: { type: "string", pattern: DURATION },
        }),
      }),
      telemetry: object({ endpoint: { type: "string", pattern: "^(https?://[^/].*)?$" } }),
      pod: ref("pod"),
      preStopSeconds: count(1),
      ...Object.fromEntries(services.map((service) => [service, serviceSchema(service)])),
      migrations: object({
        enabled: flag,
        backoffLimit: count(0),
        access: migrations,
        workspaces: migrations,
        state: migrations,
        pod: ref("pod"),
      }),
      ingress: object({
        enabled: flag,
        className: text,
        hosts: { type: "array", items: { type: "string", minLength: 1 } },
        tls: {
          type: "array",
          items: object({ hosts: { type: "array", items: text }, secretName: text }),
        },
        tlsElsewhere: flag,
        annotations: texts,
        objectAnnotations: texts,
      }),
      httpRoute: object({
        enabled: flag,
        parentRefs: objects,
        hostnames: { type: "array", items: { type: "string", minLength: 1 } },
        annotations: texts,
        timeouts: object({ request: ref("duration"), backendRequest: ref("duration") }),
        objectTimeouts: object({ request: ref("duration"), backendRequest: ref("duration") }),
      }),
      networkPolicy: object({
        enabled: flag,
        ingressController: ref("clients"),
        prometheus: ref("clients"),
        runners: ref("clients"),
        dns: object({ to: objects, port: count(1) }),
        database: ref("store"),
        nats: ref("store"),
        objectStore: ref("store"),
        telemetry: ref("store"),
        extraEgress: objects,
      }),
      podMonitor: object({
        enabled: flag,
        labels: texts,
        interval: { anyOf: [{ const: "" }, ref("duration")] },
        scrapeTimeout: { anyOf: [{ const: "" }, ref("duration")] },
        relabelings: objects,
        metricRelabelings: objects,
      }),
      prometheusRule: object({
        enabled: flag,
        labels: texts,
        alertLabels: texts,
        runbookBaseUrl: { type: "string", minLength: 1 },
        objectives: object({ availability: ref("percent"), fast: ref("percent") }),
        exclude: { type: "array", items: text },
        targets: text,
        extraGroups: objects,
      }),
      dashboards: object({ enabled: flag, labels: texts, annotations: texts }),
      operations: object({
        fsck: object({ ...scheduled, sizesOnly: flag }),
        collectDryRun: object(scheduled),
        export: object({ ...scheduled, existingClaim: text }),
        auditVerify: object({
          ...scheduled,
          heads: object({ existingClaim: text, file: text }),
        }),
      }),
      tests: object({ enabled: flag, pod: ref("pod") }),
      preflight: object({ enabled: flag, pod: ref("pod") }),
      extraObjects: { type: "array", items: { type: ["object", "string"] } },
    }),
  };
}
