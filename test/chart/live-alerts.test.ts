import { randomUUID } from "node:crypto";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { createClient, createIdentity, generateAssertionKey } from "@statehouse/rpc";
import { serviceNames } from "@statehouse/standalone/environments";
import { minioClient, newAuthority, temporaryFolder, waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type FaultFixture, startFaultFixture } from "../faults/fixture.ts";
import { newLockedWorkspace, one, write } from "../faults/steps.ts";
import { chainNow } from "../stack/audit-chain.ts";
import { runStatehouse } from "../stack/deployed-keys.ts";
import { api, download } from "../stack/http.ts";
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
  const failing = pathToFileURL(path.join(import.meta.dirname, "failing-process.ts")).href;
  fixture = started.use(
    await startFaultFixture({
      store: "minio",
      settings: {
        DATABASE_POOL_SIZE: "4",
        COMPARISON_INTERVAL: "1",
        VERIFICATION_INTERVAL: "1",
        COLLECTION_INTERVAL: "1",
        NODE_OPTIONS: `--import=${failing} --max-old-space-size=256 --max-semi-space-size=4`,
      },
    }),
  );
  const { stack, owner } = fixture;
  workspaceId = await newLockedWorkspace(fixture);
  await expectStatus(201, write(fixture, workspaceId, one()));
  const current = await expectStatus(
    200,
    owner.api.get(`/workspaces/${workspaceId}/current-state-version`),
  );
  downloadUrl = current.body.data.attributes["hosted-state-download-url"];
  rendered = await render({
    networkPolicy: { prometheus: { namespaces: ["monitoring"] } },
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
  }, 1000);
  started.defer(() => clearInterval(clients));
}, 300_000);
afterAll(() => started.disposeAsync());

const alertNames = (): string[] => {
  const { groups }: { groups: { rules: { alert?: string }[] }[] } = JSON.parse(
    JSON.stringify(rendered.get("PrometheusRule", "statehouse").spec),
  );
  return groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));
};

test("without a fault no alert fires", async () => {
  await waitFor(
    async () =>
      (await prometheus.query('statehouse:api_errors:ratio_rate5m{namespace="tools"} == 0')) ===
        1 &&
      (await prometheus.query('up{namespace="tools"} == 1')) === 4 &&
      // ALERTS also contains pending alerts: their condition has not held for long enough to fire.
      (await prometheus.query("ALERTS")) === 0,
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

/** Removes the bytes of a state from the store of the state service. */
async function removeFromBucket(key: string): Promise<void> {
  const {
    S3_ENDPOINT: endpoint = "",
    S3_REGION: region = "",
    S3_ACCESS_KEY: accessKey = "",
    S3_SECRET_KEY: secretKey = "",
    S3_BUCKET: bucket = "",
  } = fixture.stack.environments.state;
  await minioClient({ endpoint, region, accessKey, secretKey }).removeObject(bucket, key);
}

const fired = new Set<string>();

/** Waits until each alert in `expected` has fired with the labels that `expected` gives. */
async function expectFiring(expected: Readonly<Record<string, Firing>>): Promise<void> {
  const missing = new Map(Object.entries(expected));
  await waitFor(
    async () => {
      const firing = await prometheus.firing();
      for (const [alertname, labels] of missing) {
        const required = Object.entries({ ...labels, alertname });
        if (firing.some((alert) => required.every(([label, is]) => alert[label] === is))) {
          missing.delete(alertname);
          fired.add(alertname);
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

const writeOnce = async () => {
  await expectStatus(201, write(fixture, await newLockedWorkspace(fixture), one()));
};

// The tests cause one fault after the other: each test begins with the services in the state in which the previous test
// left them.

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

test("a forgotten lock, a restored database, a stopped scan and lost bytes fire their alerts", async () => {
  const { stack, rows, owner, store } = fixture;
  await rows(
    "workspaces",
    "update workspaces set lock_since = now() - interval '8 days' where id = $1",
    [workspaceId],
  );
  await stack.processes.workspaces.start();
  await waitFor(() => expectStatus(200, owner.api.get(`/workspaces/${workspaceId}`)));
  await rows(
    "state",
    `insert into workspace_states (workspace_id, organization_id, project_id, placement_version,
       sealed_epoch, current_version_id, current_position, resource_count, latest_change_at, revision)
     values ('ws-restoredBackup1', 'org-lost', 'prj-lost', 1, 0, 'sv-lost', 1, 3, now(), 5)`,
  );
  await rows(
    "state",
    `update scans set holder = null, due_at = now() + interval '1 day',
       finished_at = now() - interval '4 days' where name = 'retention'`,
  );
  const [lost = ""] = await store.keys();
  await removeFromBucket(lost);
  await expectFiring({
    StatehouseLockOld: {},
    StatehouseDatabaseRestored: { difference: "unknownHere" },
    StatehouseScanLate: { scan: "retention" },
    StatehouseStateLost: {},
  });
});

test("invalid tokens and forged assertions fire their alerts", async () => {
  const { stack } = fixture;
  const { privateJwk } = await generateAssertionKey();
  const forger = await createIdentity("gateway", privateJwk);
  const forged = createClient(UserService, stack.access, forger);
  const outsider = api(stack.url, `refused.atlasv1.${randomUUID()}`);
  const attempts = setInterval(() => {
    forged.createUser({ username: "x", email: "x@example.com" }).catch(() => {});
    for (let count = 0; count < 10; count++) outsider.get("/account/details").catch(() => {});
  }, 500);
  try {
    await expectFiring({
      StatehouseAssertionsRefused: { component: "access", reason: "refused" },
      StatehouseTokensRefused: { component: "gateway" },
    });
  } finally {
    clearInterval(attempts);
  }
});

test("a certificate that expires within three weeks fires its alert", async () => {
  const { certificates } = fixture.stack;
  const soon = await newAuthority({ days: 20 });
  await certificates.trust(certificates.authority, soon);
  await certificates.issue("access", soon);
  await expectFiring({
    StatehouseCertificateExpires: { component: "access", certificate: "service" },
  });
});

test("an event that a service cannot store fires its alerts", async () => {
  const { rows } = fixture;
  await rows(
    "workspaces",
    `create function refuse() returns trigger language plpgsql as
     $$ begin raise 'refused by a test'; end $$`,
  );
  await rows(
    "workspaces",
    `create trigger refuse before update on workspaces for each row
     when (old.state_revision is distinct from new.state_revision) execute function refuse()`,
  );
  await writeOnce();
  await expectFiring({
    StatehouseEventsFail: { consumer: "workspaces-workspace-state" },
    StatehouseDeadLetters: { service: "workspaces" },
  });
});

test("an edited audit record, and a transaction that keeps the sealer waiting, fire their alerts", async () => {
  const { stack, rows } = fixture;
  await chainNow(stack);
  const edited = await rows(
    "access",
    `update audit_records set actor_id = 'user-mallory'
     where batch is not null and position = 0 returning 1`,
  );
  expect(edited.length).toBeGreaterThan(0);
  const verification = runStatehouse(["audit", "verify"], {
    ACCESS_DATABASE_URL: stack.databases.access,
    ASSERTION_PUBLIC_KEYS: stack.environments.access.ASSERTION_PUBLIC_KEYS ?? "",
  });
  await expect(verification).rejects.toMatchObject({ code: 1 });
  const client = new Client({ connectionString: stack.databases.state });
  await client.connect();
  try {
    await client.query("begin");
    await client.query("select pg_current_xact_id()");
    await rows(
      "state",
      `insert into audit_records (recorded_at, id, organization, actor_type, actor_id, action,
         resource_type, changed_attributes, outcome)
       values (now() - interval '1 hour', 'ae-waits', '_', 'service', 'state', 'a.b', 'a', '{}', 'succeeded')`,
    );
    await expectFiring({
      StatehouseAuditTrailChanged: { service: "access", severity: "critical" },
      StatehouseAuditUnsealed: { service: "state" },
    });
  } finally {
    await client.end();
  }
});

test("state without bus and store, and slow calls fire their alerts", async () => {
  const { proxies, rows } = fixture;
  proxies.stateToNats.partition();
  await writeOnce();
  await rows("state", "update outbox set recorded_at = now() - interval '10 minutes'");
  proxies.stateToStore.partition();
  proxies.gatewayToState.delay(1500);
  await expectFiring({
    StatehouseEventsWait: { service: "state" },
    StatehouseDependencyDown: { component: "state", dependency: "nats" },
    StatehouseStateBytesFail: {},
    StatehouseApiSlow: {},
  });
});

test("a full heap, a busy event loop and a silent database fire their alerts", async () => {
  const { stack, proxies } = fixture;
  process.kill(stack.processes.access.pid(), "SIGUSR2");
  proxies.workspacesToDatabase.freeze();
  await expectFiring({
    StatehouseHeapFull: { pod: "statehouse-access-0" },
    StatehouseEventLoopBusy: { pod: "statehouse-access-0" },
    StatehouseDatabaseConnectionsExhausted: { service: "workspaces" },
  });
});

test("every alert fired in one of these tests", () => {
  expect([...fired].toSorted()).toEqual(alertNames().toSorted());
});
