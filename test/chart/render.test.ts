import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import {
  chart,
  containerOf,
  environmentOf,
  helms,
  minimal,
  podOf,
  program,
  render,
  rendered,
  run,
  template,
  workloads,
} from "./helm.ts";

const services = ["gateway", "access", "workspaces", "state"];
const databases = ["access", "workspaces", "state"];

test("the values of the shortest working installation have at most 25 lines", () => {
  expect(readFileSync(minimal, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(25);
});

describe.each(helms)("%s", (helm) => {
  test("finds nothing to complain about", async () => {
    const args = ["lint", "--strict", chart, "--kube-version", "1.34", "--values", minimal];
    const { code, output, errors } = await run(program(helm), args);
    expect(code, output + errors).toBe(0);
  });

  test("renders the same bytes twice", async () => {
    const [one, other] = await Promise.all([
      template([minimal], { helm }),
      template([minimal], { helm }),
    ]);
    expect(one.code, one.errors).toBe(0);
    expect(one.output).toBe(other.output);
  });
});

test("both versions of Helm render the same objects", async () => {
  const [one, other] = await Promise.all(helms.map((helm) => template([minimal], { helm })));
  expect(one?.code, one?.errors).toBe(0);
  expect(rendered(one?.output ?? "").objects).toEqual(rendered(other?.output ?? "").objects);
});

test("templates read nothing of the cluster and have nothing random, and no Secret is rendered", async () => {
  const folder = path.join(chart, "templates");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const texts = files
    .filter((file) => /\.(ya?ml|tpl)$/.test(file))
    .map((file) =>
      readFileSync(path.join(folder, file), "utf8").replaceAll(
        /\{\{-?\s*\/\*.*?\*\/\s*-?\}\}/gs,
        "",
      ),
    );
  expect(texts.length).toBeGreaterThan(5);
  for (const text of texts) {
    expect(text).not.toMatch(
      /\b(lookup|rand\w*|shuffle|uuidv4|gen[A-Z]\w*|derivePassword|now|date\w*|htpasswd|bcrypt|getHostByName|env)\b\s+["(.$]/,
    );
  }
  const { objects } = await render();
  expect(objects.filter(({ kind }) => kind === "Secret")).toEqual([]);
  const hooks = objects.filter(({ metadata }) => metadata.annotations?.["helm.sh/hook"]);
  expect(hooks.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    "Pod statehouse-test",
  ]);
});

test.each([
  ["on", "https"],
  ["off", "kubernetes.io/h2c"],
])("with GRPC_TLS=%s the ports of gRPC have the protocol %s", async (tls, protocol) => {
  const { ofKind } = await render({ settings: { GRPC_TLS: tls } });
  const ports = ofKind("Service").flatMap(({ spec }) => spec?.ports ?? []);
  const protocols = (target: string) =>
    ports.filter(({ targetPort }) => targetPort === target).map((port) => port.appProtocol);
  expect(protocols("grpc")).toEqual([protocol, protocol, protocol]);
  expect(new Set([...protocols("http"), ...protocols("objects")])).toEqual(new Set(["http"]));
});

test("every object is in the namespace of the release and names chart, release and component", async () => {
  const { objects } = await render({
    commonLabels: { team: "platform" },
    commonAnnotations: { owner: "sre" },
  });
  expect(objects.length).toBeGreaterThan(15);
  for (const { metadata } of objects) {
    expect(metadata).toMatchObject({
      namespace: "tools",
      annotations: { owner: "sre" },
      labels: {
        team: "platform",
        "app.kubernetes.io/name": "statehouse",
        "app.kubernetes.io/instance": "statehouse",
        "app.kubernetes.io/component": expect.any(String),
        "app.kubernetes.io/managed-by": "Helm",
      },
    });
  }
});

test("every pod is admitted by the Pod Security Standard restricted, and can write to /tmp only", async () => {
  const rendered = await render();
  const all = workloads(rendered);
  expect(all.length).toBeGreaterThanOrEqual(7);
  for (const object of all) {
    const pod = podOf(object);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        seccompProfile: { type: "RuntimeDefault" },
      },
    });
    for (const container of pod.containers) {
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
          readOnlyRootFilesystem: true,
        },
      });
      expect(container).not.toHaveProperty("command");
    }
    const writable = containerOf(object).volumeMounts.filter((mount) => !("readOnly" in mount));
    expect(writable).toEqual([{ name: "tmp", mountPath: "/tmp" }]);
  }
  expect(rendered.objects.filter(({ kind }) => /Role/.test(kind))).toEqual([]);
});

test("two replicas of each service are replaced one after another, each only when the next is ready", async () => {
  const rendered = await render();
  for (const service of services) {
    const deployment = rendered.get("Deployment", service);
    expect(deployment.spec).toMatchObject({
      replicas: 2,
      revisionHistoryLimit: 3,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    expect(containerOf(deployment)).toMatchObject({
      args: [service],
      startupProbe: { httpGet: { path: "/healthz", port: "ops" } },
      livenessProbe: { httpGet: { path: "/healthz", port: "ops" } },
      readinessProbe: { httpGet: { path: "/readyz", port: "ops" } },
      lifecycle: { preStop: { sleep: { seconds: 10 } } },
      resources: { requests: { cpu: "100m", memory: "256Mi" } },
    });
    expect(rendered.get("PodDisruptionBudget", service).spec).toMatchObject({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: "AlwaysAllow",
    });
    const { topologySpreadConstraints } = podOf(deployment);
    expect(topologySpreadConstraints).toMatchObject([
      { topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" },
      { topologyKey: "kubernetes.io/hostname", whenUnsatisfiable: "ScheduleAnyway" },
    ]);
  }
});

test("a pod is killed only after it had time to leave the endpoints and to end its requests", async () => {
  const rendered = await render({ preStopSeconds: 20 });
  for (const service of services) {
    const grace = podOf(rendered.get("Deployment", service)).terminationGracePeriodSeconds;
    expect(grace).toBe(20 + 5 + 20 + 5);
  }
});

test("one replica has no disruption budget, which would keep its node from being drained", async () => {
  const rendered = await render({ gateway: { replicas: 1 } });
  expect(rendered.ofKind("PodDisruptionBudget").map(({ metadata }) => metadata.name)).not.toContain(
    "statehouse-gateway",
  );
});

test("autoscaling sets the replicas of gateway and state, by the CPU that one pod uses", async () => {
  const autoscaling = { enabled: true, maxReplicas: 9 };
  const rendered = await render({ gateway: { autoscaling }, state: { autoscaling } });
  for (const service of ["gateway", "state"]) {
    expect(rendered.get("Deployment", service).spec).not.toHaveProperty("replicas");
    expect(rendered.get("HorizontalPodAutoscaler", service)).toMatchObject({
      apiVersion: "autoscaling/v2",
      spec: {
        scaleTargetRef: { kind: "Deployment", name: `statehouse-${service}` },
        minReplicas: 2,
        maxReplicas: 9,
        metrics: [
          { resource: { name: "cpu", target: { type: "AverageValue", averageValue: "700m" } } },
        ],
        behavior: { scaleDown: { stabilizationWindowSeconds: 300 } },
      },
    });
  }
  expect(rendered.get("Deployment", "access").spec?.replicas).toBe(2);
});

test("services call each other at headless Services, and the gateway uploads inside the cluster", async () => {
  const rendered = await render({ access: { settings: { GRPC_PORT: 9555 } } });
  expect(environmentOf(rendered.get("Deployment", "gateway"))).toMatchObject({
    ACCESS_ADDRESS: "statehouse-access:9555",
    WORKSPACES_ADDRESS: "statehouse-workspaces:9102",
    STATE_ADDRESS: "statehouse-state:9103",
    STATE_OBJECT_URL: "http://statehouse-state-objects:80",
  });
  for (const [service, port] of [
    ["access", 9555],
    ["workspaces", 9102],
    ["state", 9103],
  ] as const) {
    expect(rendered.get("Service", service).spec).toMatchObject({
      clusterIP: "None",
      ports: [{ name: "grpc", port, targetPort: "grpc" }],
    });
    expect(containerOf(rendered.get("Deployment", service)).ports).toContainEqual({
      name: "grpc",
      containerPort: port,
    });
  }
  expect(rendered.get("Service", "gateway").spec).toMatchObject({
    type: "ClusterIP",
    ports: [{ port: 80, targetPort: "http" }],
  });
  expect(rendered.get("Service", "state-objects").spec).toMatchObject({
    type: "ClusterIP",
    ports: [{ port: 80, targetPort: "objects" }],
  });
});

describe("migrations", () => {
  const names = (jobsOf: Awaited<ReturnType<typeof render>>) =>
    jobsOf.ofKind("Job").map(({ metadata }) => metadata.name);

  test("are one plain Job a service, which has no more than its database", async () => {
    const rendered = await render({
      access: {
        settings: { FIRST_ADMIN_USERNAME: "alice", FIRST_ADMIN_EMAIL: "alice@example.com" },
      },
    });
    const jobs = rendered.ofKind("Job");
    expect(jobs.map((job) => containerOf(job).args)).toEqual(
      expect.arrayContaining(databases.map((service) => ["migrate", service])),
    );
    expect(jobs).toHaveLength(3);
    for (const job of jobs) {
      expect(job.metadata.annotations ?? {}).toEqual({});
      expect(job.spec).not.toHaveProperty("ttlSecondsAfterFinished");
      const access = containerOf(job).args[1] === "access";
      expect(environmentOf(job)).toEqual({
        DATABASE_URL_FILE: "/etc/statehouse/settings/DATABASE_URL",
        ...(access
          ? { FIRST_ADMIN_USERNAME: "alice", FIRST_ADMIN_EMAIL: "alice@example.com" }
          : {}),
      });
    }
  });

  test("have new names when the image or their settings change, and keep them otherwise", async () => {
    const [first, replicas, image, database] = await Promise.all([
      render(),
      render({
        gateway: { replicas: 5 },
        settings: { LOG_LEVEL: "debug" },
        commonAnnotations: { a: "b" },
      }),
      render({ image: { tag: "0.2.0" } }),
      render({ access: { settingsFrom: { DATABASE_URL: { existingSecret: { name: "moved" } } } } }),
    ]);
    expect(names(replicas)).toEqual(names(first));
    expect(names(image).filter((name) => names(first).includes(name))).toEqual([]);
    expect(names(database).filter((name) => !names(first).includes(name))).toEqual([
      expect.stringMatching(/^statehouse-migrate-access-[0-9a-f]{8}$/),
    ]);
  });

  test("can have a database user of their own", async () => {
    const rendered = await render({
      migrations: {
        state: {
          settings: { MIGRATE_WAIT_SECONDS: 300 },
          settingsFrom: {
            MIGRATE_DATABASE_URL: { existingSecret: { name: "owner", key: "uri" } },
          },
        },
      },
    });
    const users = [...rendered.ofKind("Job"), rendered.get("Deployment", "state")].map((object) => [
      containerOf(object).args.join(" "),
      JSON.stringify(podOf(object).volumes).includes('"owner"'),
    ]);
    expect(Object.fromEntries(users)).toEqual({
      "migrate access": false,
      "migrate workspaces": false,
      "migrate state": true,
      state: false,
    });
  });

  test("can be left to the operator", async () => {
    expect((await render({ migrations: { enabled: false } })).ofKind("Job")).toEqual([]);
  });
});

test("with a folder as blob store, the state service has one replica, which is stopped before the next one starts", async () => {
  const rendered = await render({
    settings: { BLOB_STORE: "directory" },
    state: { replicas: 1, directory: { existingClaim: "blobs" } },
  });
  const deployment = rendered.get("Deployment", "state");
  expect(deployment.spec).toMatchObject({ replicas: 1, strategy: { type: "Recreate" } });
  expect(podOf(deployment).volumes).toContainEqual({
    name: "blobs",
    persistentVolumeClaim: { claimName: "blobs" },
  });
  expect(environmentOf(deployment).BLOB_DIRECTORY).toBe("/var/lib/statehouse");
});

test("each service has its own private key, and no other's", async () => {
  const rendered = await render();
  for (const service of services) {
    const volumes = JSON.stringify(podOf(rendered.get("Deployment", service)).volumes);
    expect(
      volumes.match(/statehouse-keys-\w+/g)?.every((name) => name === `statehouse-keys-${service}`),
    ).toBe(true);
  }
});
