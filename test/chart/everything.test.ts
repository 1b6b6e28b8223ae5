import { beforeAll, expect, test } from "vitest";
import { everything } from "./everything.ts";
import { containerOf, environmentOf, podOf, type Rendered, render, workloads } from "./helm.ts";

let rendered: Rendered;
beforeAll(async () => {
  rendered = await render(everything);
});

test("what pods have in common is in every pod, also of Jobs", () => {
  const all = workloads(rendered);
  expect(all).toHaveLength(4 + 3 + 4 + 4);
  for (const object of all) {
    const name = `${object.kind} ${object.metadata.name}`;
    const { extraEnv, extraVolumes, extraContainers, extraInitContainers } = everything.pod;
    expect(podOf(object), name).toMatchObject({
      imagePullSecrets: [{ name: "registry" }],
      nodeSelector: everything.pod.nodeSelector,
      tolerations: everything.pod.tolerations,
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            {
              podAffinityTerm: {
                labelSelector: { matchLabels: { "app.kubernetes.io/instance": "statehouse" } },
              },
            },
          ],
        },
      },
      runtimeClassName: "gvisor",
      securityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
      initContainers: extraInitContainers,
      volumes: expect.arrayContaining([...extraVolumes]),
      containers: expect.arrayContaining([...extraContainers]),
    });
    const container = containerOf(object);
    expect(container, name).toMatchObject({
      image: `registry.internal.example.com/platform/statehouse@sha256:${"a".repeat(64)}`,
      imagePullPolicy: "Always",
      resources: everything.pod.resources,
      envFrom: [{ configMapRef: { name: "statehouse-own" } }],
    });
    expect(container.env, name).toEqual(expect.arrayContaining([...extraEnv]));
    expect(container.volumeMounts, name).toContainEqual({ name: "own", mountPath: "/own" });
    expect(environmentOf(object), name).toMatchObject({
      NODE_EXTRA_CA_CERTS: "/etc/statehouse/authorities/authorities.pem",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.monitoring:4318",
    });
  }
});

test("what one service has replaces what all have", () => {
  expect(podOf(rendered.get("Deployment", "access"))).toMatchObject({ priorityClassName: "high" });
  expect(podOf(rendered.get("Deployment", "state"))).toMatchObject({
    priorityClassName: "platform",
  });
  expect(podOf(rendered.get("Deployment", "workspaces"))).toMatchObject({
    serviceAccountName: "existing",
  });
  expect(
    rendered
      .ofKind("ServiceAccount")
      .map(({ metadata }) => metadata.name)
      .toSorted(),
  ).toEqual(["statehouse-access", "statehouse-gateway", "statehouse-state"]);
  expect(rendered.get("ServiceAccount", "gateway").metadata.annotations).toMatchObject({
    "example.com/role": "gateway",
  });
  expect(rendered.get("PodDisruptionBudget", "access").spec).toMatchObject({ minAvailable: "50%" });
  expect(rendered.get("Service", "gateway").spec).toMatchObject({
    type: "LoadBalancer",
    ports: [{ port: 8080 }],
  });
});

test("annotations of pods may contain templates, and a new revision of Secrets restarts them", () => {
  for (const deployment of rendered.ofKind("Deployment")) {
    expect(deployment.spec?.template?.metadata.annotations).toMatchObject({
      "example.com/own": "annotation of statehouse",
      "statehouse/secrets-revision": "2",
    });
    expect(deployment.spec?.template?.metadata.labels).toMatchObject({
      "example.com/own": "label",
      team: "platform",
    });
  }
});

test("cert-manager issues a certificate for each service into the Secret that it mounts", () => {
  const certificates = rendered.ofKind("Certificate");
  expect(certificates).toHaveLength(4);
  for (const { metadata, spec } of certificates) {
    const service = metadata.labels["app.kubernetes.io/component"] ?? "";
    expect(spec).toMatchObject({
      secretName: `statehouse-tls-${service}`,
      dnsNames: [service],
      usages: expect.arrayContaining(["server auth", "client auth"]),
      issuerRef: { name: "platform", kind: "ClusterIssuer" },
    });
    const volumes = JSON.stringify(podOf(rendered.get("Deployment", service)).volumes);
    expect(volumes).toContain(`"statehouse-tls-${service}"`);
  }
});

test("further objects may be maps and texts with templates", () => {
  expect(rendered.get("ConfigMap", "statehouse-own").data).toEqual({ OWN: "value" });
  expect(rendered.get("ConfigMap", "other")).toMatchObject({ kind: "ConfigMap" });
});
