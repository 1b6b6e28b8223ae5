import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../../store/migrations.ts";
import { createReads, entities, transactions } from "../../store/nouns.ts";
import { insertOrganization, workspaceDefaults } from "../rows.ts";

// Inserts 20,000 workspaces in 100 projects. Each workspace has five runs (four with a measured status, three of them
// in the performance window), a configuration version, a readme and ten remote state consumers.
const rows = `
  -- Without checks of foreign keys, which would take most of the time of the insertion.
  set session_replication_role = replica;
  insert into projects (id, organization_id, name, revision, created_at, updated_at)
    select 'prj-' || p, 'org-1', 'project ' || p, 1, now(), now() from generate_series(0, 99) p;
  insert into workspaces (id, organization_id, project_id, name, created_at, ${workspaceDefaults.columns})
    select 'ws-' || w, 'org-1', 'prj-' || w % 100, 'name-' || w, now(), ${workspaceDefaults.values}
    from generate_series(0, 19999) w;
  insert into runs (id, workspace_id, revision, status, created_at, plan_only, configuration_version_id,
      policy_check_failed, ended, measured, in_window, report)
    select 'run-' || r, 'ws-' || r / 5, 1, case r % 5 when 4 then 'pending' else 'applied' end,
      now() - r * interval '1 second', false, 'cv-' || r / 5, false, r % 5 < 4, r % 5 < 4,
      r % 5 < 3, '{}'
    from generate_series(0, 99999) r;
  insert into configuration_versions (id, workspace_id, revision, created_at, speculative, report)
    select 'cv-' || w, 'ws-' || w, 1, now(), false, '{}' from generate_series(0, 19999) w;
  insert into workspace_readmes select 'ws-' || w, 1, '# R' from generate_series(0, 19999) w;
  insert into workspace_performance select 'ws-' || w, 3, 0, 0, 0, 0, 0, 0
    from generate_series(0, 19999) w;
  insert into remote_state_consumers select 'ws-' || w, 'ws-' || (w + c) % 20000
    from generate_series(0, 19999) w, generate_series(1, 10) c;
  reset session_replication_role`;

const stack = new AsyncDisposableStack();
const statements: string[] = [];
let client: Client;

beforeAll(async () => {
  const { url } = stack.use(await freshDatabase({ contextName: "workspaces", migrations }));
  client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  const sql = (text: string, values: unknown[] = []) => client.query(text, values);
  await insertOrganization(sql, { id: "org-1", name: "acme" });
  await client.query(rows);
  await client.query("vacuum analyze");
  const database = stack.use(
    await openDatabase({
      contextName: "workspaces",
      url,
      entities,
      migrations,
      logger: createLogger({ service: "test", level: "silent" }),
      onStatement: (text) => void statements.push(text),
    }),
  );
  const reads = createReads(database);
  await reads.runs.batch(["run-5", "run-6"]);
  await reads.runs.workspaceOf("run-5");
  await reads.runs.placement("run-5", "ws-1");
  await reads.runs.runnerOf("run-5");
  await reads.runs.listEnded(["run-5", "run-6"]);
  await reads.configurationVersions.batch(["cv-1", "cv-2"]);
  await reads.workspaceReadmes.batch(["ws-1", "ws-2"]);
  const producer = {
    id: "ws-7",
    organizationId: "org-1",
    projectId: "prj-1",
    globalRemoteState: false,
    projectRemoteState: false,
  } as const;
  const readable = {
    memberOf: ["org-1"],
    organizationIds: ["org-1"],
    projectIds: [],
    workspaceIds: [],
  };
  const page = { number: 1, size: 20 };
  expect((await reads.remoteStateConsumers.list(producer, readable, page)).total).toBe(10);
  expect(
    await reads.remoteStateConsumers.readableAs({
      runId: "run-none",
      consumerId: "ws-9",
      workspaceIds: ["ws-7", "ws-9", "ws-10"],
    }),
  ).toEqual(expect.arrayContaining(["ws-7", "ws-9"]));
  await transactions(database)(async (tx) => {
    await tx.runs.find("run-5");
    expect((await tx.runs.newestOutside("ws-1"))?.id).toBe("run-8");
    expect((await tx.runs.oldestInside("ws-1"))?.id).toBe("run-7");
    await tx.runs.setInWindow("run-5", true);
    await tx.runs.showOn("ws-1");
    await tx.configurationVersions.find("cv-1");
    await tx.configurationVersions.showOn("ws-1");
    await tx.performance.get("ws-1");
    await tx.remoteStateConsumers.of("ws-7");
    await tx.remoteStateConsumers.candidates("org-1", ["ws-1", "ws-2"]);
    await tx.remoteStateConsumers.add("ws-7", ["ws-1", "ws-2"]);
    await tx.remoteStateConsumers.remove("ws-7", ["ws-1", "ws-2"]);
  });
});
afterAll(() => stack.disposeAsync());

test("no statement about runs and consumers makes a sequential scan with 100,000 runs", async () => {
  const ours = [...new Set(statements)].filter((sql) => sql.includes("$1"));
  expect(ours.length).toBeGreaterThan(18);
  for (const sql of ours) {
    const { rows: lines } = await client.query(`explain (generic_plan) ${sql}`);
    const plan = lines.map((line) => String(line["QUERY PLAN"])).join("\n");
    // Sequential scans of projects and organizations are allowed: these tables are small, so reading all rows can be
    // the better plan.
    expect(plan, sql).not.toMatch(
      /Seq Scan on (runs|workspaces|configuration_versions|workspace_\w+|remote_state_consumers)/,
    );
  }
});
