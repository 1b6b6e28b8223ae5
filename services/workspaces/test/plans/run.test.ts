import { afterAll, beforeAll, expect, test } from "vitest";
import { createReads, transactions } from "../../nouns.ts";
import { workspaceDefaults } from "../rows.ts";
import { type SeededDatabase, seededDatabase } from "./seeded-database.ts";

// Inserts 20,000 workspaces in 100 projects. Each workspace has five runs (four with a measured status, three of them
// in the performance window), a configuration version, a readme and ten remote state consumers.
const rows = `
  -- Skips the checks of foreign keys, which would take most of the time of the insertion.
  set session_replication_role = replica;
  insert into projects (id, organization_id, name, revision, created_at, updated_at)
    select 'prj-' || p, 'org-1', 'project ' || p, 1, now(), now() from generate_series(0, 99) p;
  insert into workspaces (id, organization_id, project_id, name, created_at, ${workspaceDefaults.columns})
    select 'ws-' || w, 'org-1', 'prj-' || w % 100, 'name-' || w, now(), ${workspaceDefaults.values}
    from generate_series(0, 19999) w;
  insert into runs (id, workspace_id, runner, revision, status, created_at, plan_only, configuration_version_id,
      policy_check_failed, ended, measured, in_window, report)
    select 'run-' || r, 'ws-' || r / 5, 'runner', 1, case r % 5 when 4 then 'pending' else 'applied' end,
      now() - r * interval '1 second', false, 'cv-' || r / 5, false, r % 5 < 4, r % 5 < 4,
      r % 5 < 3, '{}'
    from generate_series(0, 99999) r;
  insert into configuration_versions (id, workspace_id, runner, revision, created_at, speculative, report)
    select 'cv-' || w, 'ws-' || w, 'runner', 1, now(), false, '{}' from generate_series(0, 19999) w;
  insert into workspace_readmes select 'ws-' || w, 1, '# R' from generate_series(0, 19999) w;
  insert into workspace_performance select 'ws-' || w, 3, 0, 0, 0, 0, 0, 0
    from generate_series(0, 19999) w;
  insert into remote_state_consumers select 'ws-' || w, 'ws-' || (w + c) % 20000
    from generate_series(0, 19999) w, generate_series(1, 10) c;
  reset session_replication_role`;

let seeded: SeededDatabase;

beforeAll(async () => {
  seeded = await seededDatabase({ id: "org-1", name: "acme" }, rows);
  const { database } = seeded;
  const reads = createReads(database);
  await reads.runs.batch(["run-5", "run-6"]);
  await reads.runs.reporterOf("run-5");
  await reads.runs.placement("run-5", "ws-1");
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
    await tx.performance.find({ workspaceId: "ws-1" });
    await tx.remoteStateConsumers.of("ws-7");
    await tx.remoteStateConsumers.candidates("org-1", ["ws-1", "ws-2"]);
    await tx.remoteStateConsumers.add("ws-7", ["ws-1", "ws-2"]);
    await tx.remoteStateConsumers.replace("ws-7", ["ws-1"]);
    await tx.remoteStateConsumers.remove("ws-7", ["ws-1", "ws-2"]);
  });
});
afterAll(() => seeded[Symbol.asyncDispose]());

test("no statement about runs and consumers makes a sequential scan with 100,000 runs", async () => {
  const ours = [...new Set(seeded.statements)].filter((sql) => sql.includes("$1"));
  expect(ours.length).toBeGreaterThan(18);
  for (const sql of ours) {
    const plan = await seeded.planOf(sql);
    // Sequential scans of projects and organizations are allowed: these tables are small, so reading all rows can be
    // the better plan.
    expect(plan, sql).not.toMatch(
      /Seq Scan on (runs|workspaces|configuration_versions|workspace_\w+|remote_state_consumers)/,
    );
  }
});
