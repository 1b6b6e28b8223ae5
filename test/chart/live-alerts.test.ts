import { serviceNames } from "@statehouse/standalone/environments";
import { temporaryFolder, waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type FaultFixture, startFaultFixture } from "../faults/fixture.ts";
import { newLockedWorkspace, one, write } from "../faults/steps.ts";
import { download } from "../stack/http.ts";
import { expectStatus } from "../stack/state.ts";
import { type Rendered, render } from "./helm.ts";
import { type Firing, type Prometheus, startPrometheus } from "./prometheus.ts";

vi.setConfig({ testTimeout: 300_000 });
const started = new AsyncDisposableStack();
let fixture: FaultFixture;
let rendered: Rendered;
let prometheus: Prometheus;
let workspaceId: string;
let downloadUrl: string;

beforeAll(async () => {
  fixture = started.use(await startFaultFixture({ store: "minio" }));
  const { stack, owner } = fixture;
  workspaceId = await newLockedWorkspace(fixture);
  await expectStatus(201, write(fixture, workspaceId, one()));
  const current = await expectStatus(
    200,
    owner.api.get(`/workspaces/${workspaceId}/current-state-version`),
  );
  downloadUrl = current.body.data.attributes["hosted-state-download-url"];
  rendered = await render({
    podMonitor: { enabled: true },
    prometheusRule: { enabled: true },
    dashboards: { enabled: true },
  });
  prometheus = started.use(
    await startPrometheus(
      started.use(await temporaryFolder()).path,
      rendered,
      serviceNames.map((component) => ({
        component,
        opsPort: Number(stack.environments[component].OPS_PORT),
      })),
    ),
  );
  // Clients that use every service, and ignore failures.
  const clients = setInterval(() => {
    for (const request of [
      owner.api.get(`/organizations/${fixture.organization}/workspaces`),
      owner.api.get(`/workspaces/${workspaceId}/current-state-version`),
      download(downloadUrl, owner.token),
    ]) {
      request.catch(() => {});
    }
  }, 250);
  started.defer(() => clearInterval(clients));
}, 300_000);
afterAll(() => started.disposeAsync());

test("without a fault no alert fires", async () => {
  await waitFor(
    async () =>
      (await prometheus.query('statehouse:api_errors:ratio_rate5m{namespace="tools"} == 0')) ===
        1 &&
      (await prometheus.query('up{namespace="tools"} == 1')) === 4 &&
      (await prometheus.firing()).length === 0,
    { timeout: 90_000, what: "an installation without alerts" },
  );
});

test("every query of the dashboards is valid, and names metrics that the services serve", async () => {
  const { namespace = "", name } = rendered.get("PodMonitor", "statehouse").metadata;
  const queries = Object.values(rendered.get("ConfigMap", "dashboards").data ?? {}).flatMap(
    (text) => {
      const { panels }: { panels: { targets: { expr: string }[] }[] } = JSON.parse(text);
      return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    },
  );
  expect(queries.length).toBeGreaterThan(40);
  const variables: Record<string, string> = {
    namespace,
    job: `${namespace}/${name}`,
    component: "state",
    __rate_interval: "15s",
  };
  const served = await prometheus.metricNames();
  for (const query of queries) {
    const expression = query.replaceAll(/\$(\w+)/g, (_, variable) => {
      const value = variables[variable];
      if (!value) throw new Error(`the variable ${variable} of ${query} is unknown`);
      return value;
    });
    await prometheus.query(expression);
    for (const [metric] of expression.matchAll(/\bstatehouse_\w+/g)) {
      expect(served, query).toContain(metric);
    }
  }
});

/** Waits until each of these alerts has fired with the given labels. */
async function expectFiring(expected: Readonly<Record<string, Firing>>): Promise<void> {
  const missing = new Map(Object.entries(expected));
  await waitFor(
    async () => {
      const firing = await prometheus.firing();
      for (const [alertname, labels] of missing) {
        const wanted = Object.entries({ ...labels, alertname });
        if (firing.some((alert) => wanted.every(([label, is]) => alert[label] === is))) {
          missing.delete(alertname);
        }
      }
      if (missing.size > 0) {
        throw new Error(`not fired: ${[...missing.keys()]}; firing: ${JSON.stringify(firing)}`);
      }
      return true;
    },
    { timeout: 150_000, interval: 250, what: "alerts" },
  );
}

test("a killed service fires the alerts of replicas, calls and failed requests", async () => {
  await fixture.stack.processes.workspaces.kill();
  await expectFiring({
    StatehouseServiceDown: { component: "workspaces", severity: "critical" },
    StatehouseReplicaDown: { component: "workspaces", pod: "statehouse-workspaces-0" },
    StatehouseErrorBudgetBurnsFast: { severity: "critical" },
    StatehouseErrorBudgetBurnsSlowly: { severity: "warning" },
    StatehouseCallsFail: { component: "gateway" },
  });
});
