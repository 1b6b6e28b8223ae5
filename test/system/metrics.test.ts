import { readFile } from "node:fs/promises";
import { type ServiceName, serviceNames } from "@statehouse/standalone/environments";
import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { api } from "../stack/http.ts";
import { type Sample, scrape, total } from "../stack/metrics.ts";
import { startProcesses } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { newWorkspace, useStack } from "./fixture.ts";
import { smoke } from "./smoke.ts";

const fixture = useStack(() => startProcesses({ settings: { DATABASE_POOL_SIZE: "7" } }));

const metricsOf = (name: ServiceName): Promise<Sample[]> =>
  scrape(fixture().stack.environments[name].OPS_PORT);

/** Returns `service metric{labels}` for every row of the table in docs/operations.md. */
async function documented(): Promise<string[]> {
  const text = await readFile(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| (`statehouse_.*?) \| (.*?) \| (.*?) ?\| .*\|$/gm)];
  const quoted = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);
  return rows.flatMap(([, metrics = "", services = "", labels = ""]) =>
    quoted(metrics).flatMap((metric) =>
      (services === "each" ? serviceNames : services.split(", ")).map(
        (service) => `${service} ${metric}{${quoted(labels).toSorted().join(",")}}`,
      ),
    ),
  );
}

/** Returns `service metric{labels}` for every metric that the services serve. */
async function served(): Promise<string[]> {
  const lines = await Promise.all(
    serviceNames.map(async (service) => {
      const ours = (await metricsOf(service)).filter(({ metric }) => metric !== "target_info");
      return [...Map.groupBy(ours, ({ metric }) => metric)].map(([metric, samples]) => {
        const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
        labels.delete("le");
        return `${service} ${metric}{${[...labels].toSorted().join(",")}}`;
      });
    }),
  );
  return lines.flat();
}

test("docs/operations.md lists every metric of every service with its labels, and no others", async () => {
  await smoke(fixture());
  const expected = (await documented()).toSorted();
  expect(expected.length).toBeGreaterThan(80);
  await waitFor(async () => expect((await served()).toSorted()).toEqual(expected));
});

test("labels contain route patterns and methods, never ids, names or tokens", async () => {
  const { owner, organization, url } = fixture();
  const { workspaceId, stateVersionId } = await smoke(fixture());
  await owner.api.get(`/organizations/${organization}/workspaces`);
  await api(url, "a.token").get(`/workspaces/${workspaceId}`);
  const odd = ["PROPFIND", "M-SEARCH"];
  for (const method of odd) await fetch(`${url}/v1/object/x`, { method });
  const forbidden = [workspaceId, stateVersionId, organization, owner.id, owner.token, "a.token"];
  for (const name of serviceNames) {
    const labels = (await metricsOf(name))
      .flatMap((sample) => Object.values(sample.labels))
      .join("\n");
    for (const text of forbidden) expect(labels.includes(text), `${name}: ${text}`).toBe(false);
    expect(labels).not.toMatch(/\b[a-z]+-[A-Za-z0-9]{16}\b/);
  }
});

test("requests below a second are in different buckets", async () => {
  const { api } = fixture().owner;
  await expectStatus(200, api.get("/account/details"));
  const samples = await metricsOf("gateway");
  const route = { route: "/api/v2/account/details", method: "GET", status: "200" };
  const bounds = samples
    .filter(({ name }) => name === "statehouse_http_request_duration_seconds_bucket")
    .filter(({ labels }) => labels.route === route.route)
    .map(({ labels }) => labels.le);
  expect(new Set(bounds).size).toBe(bounds.length);
  expect(bounds.map(Number).filter((bound) => bound < 1).length).toBeGreaterThanOrEqual(7);
  expect(total(samples, "statehouse_http_request_duration_seconds_count", route)).toBe(1);
});

test("a call between services is measured on both sides, by method and code", async () => {
  const method = "statehouse.workspaces.v1.WorkspaceService/GetWorkspace";
  const counts = async () => ({
    client: total(await metricsOf("gateway"), "statehouse_rpc_client_duration_seconds_count", {
      method,
      code: "NOT_FOUND",
    }),
    server: total(await metricsOf("workspaces"), "statehouse_rpc_server_duration_seconds_count", {
      method,
      code: "NOT_FOUND",
    }),
  });
  const before = await counts();
  await expectStatus(404, fixture().owner.api.get("/workspaces/ws-AAAAAAAAAAAAAAAA"));
  expect(await counts()).toEqual({ client: before.client + 1, server: before.server + 1 });
});

test("tokens that are missing or wrong are counted, in the gateway and for state bytes", async () => {
  const name = "statehouse_authentication_failures_total";
  const counts = async (service: ServiceName) => {
    const samples = await metricsOf(service);
    return ["missing", "refused"].map((reason) =>
      total(samples, name, { credential: "token", reason }),
    );
  };
  const { url, stack, anonymous } = fixture();
  const [missing = 0, refused = 0] = await counts("gateway");
  await expectStatus(401, anonymous.get("/account/details"));
  await expectStatus(401, api(url, "not.atlasv1.token").get("/account/details"));
  expect(await counts("gateway")).toEqual([missing + 1, refused + 1]);

  const object = `${stack.environments.state.PUBLIC_URL}/v1/object/sv-AAAAAAAAAAAAAAAA`;
  const [unsent = 0, wrong = 0] = await counts("state");
  expect((await fetch(object)).status).toBe(401);
  expect((await fetch(object, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
  await waitFor(async () => expect(await counts("state")).toEqual([unsent + 1, wrong + 1]));
});

test("uploads and downloads are measured with their bytes", async () => {
  const measured = async () => {
    const samples = await metricsOf("state");
    const count = "statehouse_object_request_duration_seconds_count";
    return {
      uploads: total(samples, count, { method: "PUT", status: "200" }),
      downloads: total(samples, count, { method: "GET", status: "200" }),
      received: total(samples, "statehouse_object_received_bytes_total"),
      sent: total(samples, "statehouse_object_sent_bytes_total"),
      inProgress: total(samples, "statehouse_object_requests_in_progress"),
    };
  };
  const before = await measured();
  await smoke(fixture());
  await waitFor(async () => {
    const after = await measured();
    expect(after.uploads).toBe(before.uploads + 2);
    expect(after.downloads).toBe(before.downloads + 1);
    expect(after.received).toBeGreaterThan(before.received + 100);
    expect(after.sent).toBeGreaterThan(before.sent + 100);
    expect(after.inProgress).toBe(0);
    return true;
  });
});

test("dead letters and the oldest lock are read from the database", async () => {
  const { owner, stack } = fixture();
  const { id } = await newWorkspace(fixture());
  await expectStatus(200, owner.api.post(`/workspaces/${id}/actions/lock`));
  await stack.rows("workspaces", "update workspaces set lock_since = now() - interval '1 hour'");
  await stack.rows(
    "access",
    `insert into dead_letters (consumer, event_id, type, source, subject, revision, message, time, failures, error)
     values ('access-x', '1', 't', 's', 'x', 1, '{}', now(), 8, 'e'), ('access-x', '2', 't', 's', 'x', 1, '{}', now(), 8, 'e')`,
  );
  await waitFor(async () =>
    expect(total(await metricsOf("access"), "statehouse_dead_letters")).toBe(2),
  );
  // A replica caches the age of the oldest lock for minutes. The service is restarted, so that it reads the age again.
  await stack.processes.workspaces.kill();
  await stack.processes.workspaces.start();
  const age = total(await metricsOf("workspaces"), "statehouse_oldest_lock_age_seconds");
  expect(age).toBeGreaterThan(3500);
  expect(age).toBeLessThan(7200);
});

test("connections of the pool, the event loop and garbage collections are measured", async () => {
  await smoke(fixture());
  const samples = await metricsOf("state");
  expect(total(samples, "statehouse_database_connections_limit")).toBe(7);
  const open = total(samples, "statehouse_database_connections");
  expect(open).toBeGreaterThan(0);
  expect(open).toBeLessThanOrEqual(7);
  expect(total(samples, "statehouse_database_connection_wait_seconds_count")).toBeGreaterThan(10);
  expect(total(samples, "statehouse_event_loop_delay_seconds_count")).toBeGreaterThan(10);
  expect(total(samples, "statehouse_event_loop_active_seconds_total")).toBeGreaterThan(0);
  expect(total(samples, "statehouse_gc_duration_seconds_count", { kind: "minor" })).toBeGreaterThan(
    0,
  );
});
