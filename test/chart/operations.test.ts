import { expect, test } from "vitest";
import { containerOf, environmentOf, podOf, render } from "./helm.ts";

test("scheduled commands are off, and have the settings of state when they are on", async () => {
  const [suspended, ...others] = (await render()).ofKind("CronJob");
  expect(others).toEqual([]);
  expect(suspended).toMatchObject({
    metadata: { name: "statehouse-fsck" },
    spec: { suspend: true },
  });
  const rendered = await render({
    operations: {
      fsck: { enabled: true, schedule: "@weekly", sizesOnly: false },
      collectDryRun: { enabled: true },
      export: { enabled: true, existingClaim: "exports" },
      auditVerify: { enabled: true },
    },
  });
  const state = environmentOf(rendered.get("Deployment", "state"));
  const commands = rendered.ofKind("CronJob").map((job) => {
    expect(environmentOf(job)).toMatchObject(state);
    expect(job.spec).toMatchObject({
      concurrencyPolicy: "Forbid",
      jobTemplate: { spec: { backoffLimit: 0 } },
    });
    return containerOf(job).args.join(" ");
  });
  expect(commands.toSorted()).toEqual([
    "audit verify",
    "collect --dry-run",
    "export /export/$(POD_NAME)",
    "fsck",
  ]);
  expect(rendered.get("CronJob", "fsck").spec).toMatchObject({ schedule: "@weekly" });
  expect(rendered.get("CronJob", "fsck").spec).not.toHaveProperty("suspend");
  const exporting = rendered.get("CronJob", "export");
  expect(containerOf(exporting).env).toContainEqual({
    name: "POD_NAME",
    valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
  });
  expect(environmentOf(exporting).WORKSPACES_DATABASE_URL_FILE).toBe(
    "/etc/statehouse/workspaces/DATABASE_URL",
  );
  expect(podOf(exporting).volumes).toContainEqual({
    name: "workspaces",
    projected: {
      defaultMode: 288,
      sources: [
        {
          secret: {
            name: "statehouse-workspaces-database",
            items: [{ key: "uri", path: "DATABASE_URL" }],
          },
        },
      ],
    },
  });
});

test("the verification of the audit trail has the databases of all services, and the heads of a claim", async () => {
  const heads = { existingClaim: "audit-heads", file: "kept.jsonl" };
  const rendered = await render({ operations: { auditVerify: { enabled: true, heads } } });
  const job = rendered.get("CronJob", "audit-verify");
  expect(containerOf(job).args).toEqual(["audit", "verify", "--heads", "/heads/kept.jsonl"]);
  for (const service of ["access", "workspaces", "state"]) {
    expect(environmentOf(job)[`${service.toUpperCase()}_DATABASE_URL_FILE`]).toBe(
      `/etc/statehouse/${service}/DATABASE_URL`,
    );
    const items = [{ key: "uri", path: "DATABASE_URL" }];
    const sources = [{ secret: { name: `statehouse-${service}-database`, items } }];
    expect(podOf(job).volumes).toContainEqual({
      name: service,
      projected: { defaultMode: 288, sources },
    });
  }
  expect(podOf(job).volumes).toContainEqual({
    name: "heads",
    persistentVolumeClaim: { claimName: "audit-heads", readOnly: true },
  });
});

test("helm test requests the API and the readiness of every service, with no Secret", async () => {
  const rendered = await render();
  const pod = rendered.get("Pod", "test");
  expect(pod.metadata.annotations).toMatchObject({ "helm.sh/hook": "test" });
  expect(pod.spec?.containers?.[0]?.args).toEqual([
    "healthcheck",
    "http://statehouse-gateway:80/.well-known/terraform.json",
    "http://statehouse-gateway:80/api/v2/ping",
    "http://statehouse-access:9201/readyz?verbose",
    "http://statehouse-workspaces:9202/readyz?verbose",
    "http://statehouse-state:9203/readyz?verbose",
  ]);
  expect(pod.spec?.volumes).toEqual([{ name: "tmp", emptyDir: { sizeLimit: "64Mi" } }]);
});

test("a preflight has the image, settings and Secrets of each service, and can be rendered alone", async () => {
  const values = { image: { tag: "0.2.0" }, preflight: { enabled: true } };
  const rendered = await render(values, { args: ["--show-only", "templates/preflight.yaml"] });
  expect(rendered.objects.map(containerOf).map(({ args }) => args.join(" "))).toEqual([
    "preflight gateway",
    "preflight access",
    "preflight workspaces",
    "preflight state",
  ]);
  const whole = await render(values);
  for (const job of rendered.objects) {
    const [, service = ""] = containerOf(job).args;
    const deployment = whole.get("Deployment", service);
    expect(environmentOf(job)).toEqual(environmentOf(deployment));
    expect(podOf(job).volumes).toEqual(podOf(deployment).volumes);
    expect(containerOf(job).image).toBe("registry.example.com/statehouse:0.2.0");
  }
});
