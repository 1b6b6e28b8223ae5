import { afterAll, beforeAll, expect, test } from "vitest";
import { createLeases, createReads, listing, transactions } from "../../nouns.ts";
import { newOrganizationDeletion, newWorkspaceDeletion } from "../../pending-sync/domain.ts";
import { noPerformance } from "../../performance/domain.ts";
import { newWorkspace } from "../../workspace/domain.ts";
import { takeLock } from "../../workspace-lock/domain.ts";
import { workspaceDefaults } from "../rows.ts";
import { type SeededDatabase, seededDatabase } from "./seeded-database.ts";

// Inserts 2,000 organizations, 10,000 projects, 20,000 workspaces, and about 20,000 rows in most other tables.
const rows = `
  alter table workspaces disable trigger workspaces_counted;
  insert into organizations select (jsonb_populate_record(o,
      jsonb_build_object('id', 'org-' || i, 'name', 'name-' || i))).*
    from organizations o, generate_series(1, 1999) i where o.id = 'org-0';
  insert into projects (id, organization_id, name, revision, created_at, updated_at)
    select 'prj-' || p, 'org-' || p % 2000, 'project ' || p, 1, now(), now()
    from generate_series(0, 9999) p;
  insert into workspaces (id, organization_id, project_id, name, created_at,
      ${workspaceDefaults.columns})
    select 'ws-' || w, 'org-' || w % 2000, 'prj-' || w % 10000, 'name-' || w, now(),
      ${workspaceDefaults.values}
    from generate_series(0, 19999) w;
  alter table workspaces enable trigger workspaces_counted;
  insert into workspace_counts
    select organization_id, project_id, count(*) from workspaces group by 1, 2;
  insert into tags select 'tag-' || t, 'org-' || t % 2000, 't' || t, now()
    from generate_series(0, 19999) t;
  insert into tag_bindings (id, organization_id, workspace_id, key, value, through_tags, created_at)
    select 'tb-w' || w, 'org-' || w % 2000, 'ws-' || w, 't' || w, '', true, now()
    from generate_series(0, 19999) w;
  insert into tag_bindings (id, organization_id, project_id, key, value, through_tags, created_at)
    select 'tb-p' || p, 'org-' || p % 2000, 'prj-' || p, 'key', 'value', false, now()
    from generate_series(0, 9999) p;
  insert into reserved_tag_keys
    select 'rtk-' || k, 'org-' || k % 2000, 'k' || k, true, 1, now(), now()
    from generate_series(0, 19999) k;
  insert into ssh_keys select 'sshkey-' || k, 'org-' || k % 2000, 'k' || k, '', 1, now()
    from generate_series(0, 19999) k;
  insert into agent_pools select 'apool-' || a, 'org-' || a % 2000, 'a' || a, false, 1, now()
    from generate_series(0, 19999) a;
  insert into agent_pool_workspaces select 'apool-' || a, 'ws-' || a, 'allowed'
    from generate_series(0, 19999) a;
  insert into agent_pool_projects select 'apool-' || a, 'prj-' || a % 10000
    from generate_series(0, 19999) a;
  insert into data_retention_policies (id, workspace_id, kind, revision)
    select 'drp-w' || w, 'ws-' || w, 'dont-delete', 1
    from generate_series(0, 19999) w;
  insert into data_retention_policies (id, organization_id, kind, revision)
    select 'drp-o' || o, 'org-' || o, 'dont-delete', 1
    from generate_series(0, 1999) o;
  insert into workspace_deletions
    select 'ws-gone' || w, 'org-' || w % 2000, 'prj-' || w % 10000, 'gone-' || w, now()
    from generate_series(0, 19999) w;
  insert into organization_deletions
    select 'org-gone' || o, 'gone-' || o, 'user', 'user-1', now() from generate_series(0, 19999) o;
  insert into workspace_performance select 'ws-' || w, 3, 0, 0, 0, 0, 0, 0
    from generate_series(0, 19999) w;
  insert into workspace_readmes select 'ws-' || w, 1, '# R' from generate_series(0, 19999) w`;

let seeded: SeededDatabase;
let listings: string[] = [];

const now = new Date();
const page = { number: 1, size: 20 };
const all = { memberOf: ["org-1"], organizationIds: ["org-1"], projectIds: [], workspaceIds: [] };
const some = { ...all, organizationIds: [], projectIds: ["prj-1"], workspaceIds: ["ws-2001"] };
const scope = { workspaces: all, projects: all };
const user = { type: "user", id: "user-1" } as const;

beforeAll(async () => {
  seeded = await seededDatabase({ id: "org-0", name: "name-0" }, rows);
  const { database, statements } = seeded;
  const reads = createReads(database);
  await reads.organizations.findCredentialSettings("org-1");
  await reads.organizations.findByName("name-1");
  await reads.organizations.batch(["org-1", "org-2"]);
  await reads.organizations.page({
    ids: ["org-1"],
    query: "n",
    name: "",
    email: "",
    page,
  });
  await reads.projects.batch(["prj-1"]);
  await reads.projects.organizationOf("prj-1");
  const projects = { organizationName: "name-1", query: "p", names: ["project 1"] };
  const tagged = [{ key: "key", value: "value" }];
  await reads.projects.page({ ...projects, tagged, descending: false, page }, all);
  await reads.workspaces.find({ id: "ws-1" });
  await reads.workspaces.find({ organizationName: "name-1", workspaceName: "name-1" });
  await reads.workspaces.findIds({ organizationName: "name-1", workspaceName: "name-1" });
  await reads.workspaces.batch(["ws-1", "ws-2"]);
  await reads.workspaces.lockAndPlacement("ws-1");
  await reads.workspaces.listWithOlderState([{ id: "ws-1", revision: 1n }]);
  await reads.dataRetentionPolicies.effective("org-1", "ws-1");
  await reads.dataRetentionPolicies.ofWorkspaces(["ws-1", "ws-2"]);
  await reads.reservedTagKeys.page("org-1", page);
  await reads.sshKeys.find("sshkey-1");
  await reads.sshKeys.page("org-1", page);
  await reads.tagBindings.ofProject("prj-1");
  await reads.tagBindings.ofProjects(["prj-1", "prj-2"]);
  await reads.tagBindings.ofWorkspace("ws-1");
  await reads.tagBindings.effectiveOfWorkspaces(["ws-1", "ws-2"]);
  for (const readable of [all, some]) {
    const excludeWorkspaceId = "ws-1";
    const search = { organizationId: "org-1", query: "t", excludeWorkspaceId, page } as const;
    await reads.tags.pageOfOrganization({ ...search, readable });
    await reads.tags.pageOfWorkspace("ws-1", readable, page);
    const producer = {
      id: "ws-1",
      organizationId: "org-1",
      projectId: "prj-1",
      globalRemoteState: true,
      projectRemoteState: false,
    } as const;
    await reads.remoteStateConsumers.list(producer, readable, page);
  }
  await reads.agentPools.batch(["apool-1"], scope);
  await reads.agentPools.page({
    organizationId: "org-1",
    shown: scope,
    named: scope,
    query: "a",
    allowedWorkspaceName: "name-1",
    allowedProjectName: "project 1",
    sort: "name",
    descending: false,
    page,
  });
  await reads.pendingSyncs.findUnprovisioned("org-1");
  await reads.pendingSyncs.findPendingPlacement("ws-1");
  await reads.pendingSyncs.findPendingDeletion("ws-gone1");
  await reads.pendingSyncs.pendingDeletionsOf("org-1", 100);
  await reads.projects.listExisting(["prj-1", "prj-2"]);
  await reads.organizations.batchBilling(["org-1", "org-2"]);
  await reads.stateComparisons.ofWorkspaces(["ws-1", "ws-gone1"]);
  await reads.stateComparisons.reportedAfter("ws-1", 100);

  const before = statements.length;
  const list = listing({ database, source: "urn:test" });
  const filters = ["statehouse.*.*.*.*.org-7"];
  let cursor = "";
  do {
    ({ nextCursor: cursor } = await list({ filters, cursor, maxBytes: 1e6 }));
  } while (cursor !== "");
  listings = statements.splice(before);

  const leases = createLeases(database);
  await leases.workspaces.endExpiredDeletionLocks(now);
  await leases.stateComparisons.claim(now, now);
  await leases.stateComparisons.moveTo({ through: "ours", after: "" }, now);
  const { pendingSyncs } = leases;
  await pendingSyncs.claimUnprovisioned(now);
  await pendingSyncs.claimPendingPlacements(now);
  await pendingSyncs.claimPendingDeletions(now);
  await pendingSyncs.claimPendingOrganizationDeletions(now);
  await pendingSyncs.markOrganizationProvisioned("org-1");
  const placement = { workspaceId: "ws-1", organizationId: "org-1", projectId: "prj-1" } as const;
  await pendingSyncs.markPlacementSynced({ ...placement, version: 1n });
  await pendingSyncs.rescheduleOrganizationDeletion("org-gone1", now);
  await pendingSyncs.clearDeletion("ws-gone2");

  await transactions(database)(async (tx) => {
    expect(await tx.organizations.nameTaken("name-1", "org-2")).toBe(true);
    await tx.organizations.findByNameForUpdate("name-1");
    await tx.organizations.view("org-1");
    expect(await tx.projects.nameTaken("org-1", "project 1")).toBe(true);
    expect(await tx.projects.hasWorkspaces("prj-1")).toBe(true);
    const changed = await tx.projects.getForShare("prj-1");
    changed.autoDestroyActivityDuration = "2d";
    await tx.workspaces.passOnActivityDuration(changed, { dueAt: now, at: now });
    expect(await tx.workspaces.countForLimit("org-1")).toBe(10);
    await tx.workspaces.findForUpdate({ organizationName: "name-1", workspaceName: "name-1" });
    expect(await tx.workspaces.settingsContext("prj-1", "name-1")).toHaveProperty(
      "nameTaken",
      true,
    );
    await tx.workspaces.dueForAutoDestroy(now, 10);
    const settings = await tx.generalSettings.getForUpdate({ id: true });
    settings.planTimeout = "3h";
    tx.generalSettings.save(settings);
    await tx.dataRetentionPolicies.nextVersion(now);
    await tx.dataRetentionPolicies.findForUpdate("site");
    await tx.reservedTagKeys.fixedBy("prj-1", ["key"]);
    await tx.tagBindings.ofProject("prj-1");
    const current = await tx.tagBindings.ofWorkspace("ws-1");
    const owner = { organizationId: "org-1", workspaceId: "ws-1" } as const;
    await tx.tagBindings.replace(owner, current, new Map([["new", ""]]), {
      now,
      tagKeys: new Set(["new"]),
    });
    const project = { organizationId: "org-1", projectId: "prj-1" } as const;
    await tx.tagBindings.replace(project, [], new Map([["new", "1"]]), { now, tagKeys: new Set() });
    await tx.tags.ensure("org-1", ["t2001"], now);
    await tx.tags.dropUnused("org-1", ["t1"]);
    await tx.tags.get("tag-2001");
    for (const readable of [all, some]) await tx.tags.namesOf("org-1", ["tag-2001"], readable);
    await tx.tags.remove("org-1", ["tag-4001"]);
    expect(await tx.agentPools.isKnown("apool-1", "org-1")).toBe(true);
    expect(await tx.agentPools.inUse("apool-1")).toBe(false);
    const pool = await tx.agentPools.getForUpdate("apool-1");
    const relations = {
      allowedWorkspaceIds: ["ws-1" as const],
      allowedProjectIds: ["prj-1" as const],
    };
    await tx.agentPools.relate(pool, relations, scope);
    const sums = await tx.performance.find({ workspaceId: "ws-1" });
    if (sums) tx.performance.save(Object.assign(sums, noPerformance));
    await tx.workspaceReadmes.save({ workspaceId: "ws-1", rawMarkdown: "" }, 2n);
    const reported = {
      runner: "runner",
      workspaceId: "ws-1",
      revision: 1n,
      createdAt: now,
      report: {},
    } as const;
    const commit = { speculative: false, commitSha: null, commitUrl: null };
    await tx.configurationVersions.save({ id: "cv-1", ...reported, ...commit });
    await tx.runs.save({
      id: "run-1",
      ...reported,
      status: "applied",
      planOnly: false,
      isDestroy: false,
      configurationVersionId: null,
      policyCheckFailed: false,
      planMs: null,
      applyMs: null,
    });
    await tx.workspaceDeletions.findPending({ id: "ws-gone1" });
    const gone = { organizationName: "name-1", workspaceName: "gone-1" };
    await tx.workspaceDeletions.findPending(gone);
    for (const workspace of await tx.workspaces.listForDeletion("org-2", 50)) {
      tx.workspaceDeletions.save(newWorkspaceDeletion(workspace, now));
      tx.workspaces.remove(workspace);
    }
    const organization = await tx.organizations.getByName("name-1");
    tx.organizationDeletions.save(newOrganizationDeletion(organization, user, now));
    await tx.organizationDeletions.findPending("gone-1", user);
    await tx.organizationDeletions.hasWorkspaces("org-3");
    await tx.organizationDeletions.finish("org-none");
  });
  await transactions(database)(async (tx) => {
    await tx.workspaces.creationContext({
      ...{ organizationName: "name-1", projectId: "prj-1", name: "name-1" },
    });
    const workspace = await tx.workspaces.getForUpdate({ id: "ws-3" });
    takeLock(workspace, user, "", now);
    await tx.workspaces.commit(workspace);
  });
  await transactions(database)(async (tx) => {
    await tx.projects.commit(await tx.projects.getForUpdate("prj-1"));
  });
  await transactions(database)(async (tx) => {
    await tx.organizations.commit(await tx.organizations.getByNameForUpdate("name-1"));
  });
  await transactions(database)(async (tx) => {
    await tx.agentPools.commit(await tx.agentPools.getForUpdate("apool-1"), scope);
  });
  await transactions(database)(async (tx) => {
    const fields = { organizationId: "org-1", projectId: "prj-1", engineVersion: "1.0.0" } as const;
    const added = newWorkspace({ id: "ws-added", ...fields }, now);
    added.name = "added";
    await tx.workspaces.commit(added);
  });
  // The empty string marks the end of the checked statements. The statements after it read all rows: two of them count
  // all organizations and workspaces, and the third searches for the oldest lock without an index, because every lock
  // would have to update the index.
  statements.push("");
  await reads.workspaces.oldestLock();
  await reads.administeredWorkspaces.page({
    query: "n",
    currentRunStatuses: ["applied"],
    sort: { key: "name", descending: false },
    page,
  });
  await reads.organizations.pageOfAll({ query: "n", page });
});
afterAll(() => seeded[Symbol.asyncDispose]());

test("statements make no sequential scan", async () => {
  const { statements } = seeded;
  const sent = statements.slice(0, statements.lastIndexOf(""));
  const ours = [...new Set(sent)].filter((sql) => sql.includes("$1"));
  expect(ours.length).toBeGreaterThan(90);
  for (const sql of ours) {
    // A sequential scan of these two tables is allowed: each has one row.
    const plan = (await seeded.planOf(sql)).replaceAll(
      /Seq Scan on (general_settings|state_comparison)/g,
      "",
    );
    expect.soft(plan, sql).not.toMatch(/Seq Scan/);
  }
});

test("a page of all organizations is read in the order of an index", async () => {
  const plan = await seeded.planOf(seeded.statements.at(-1) ?? "");
  expect(plan).toMatch(/Index Scan using organizations_name_key/);
});

test("a page of what exists is read in the order of a key", async () => {
  await seeded.database.query(`insert into runs (id, workspace_id, revision, runner, status, created_at,
      plan_only, policy_check_failed, ended, measured, in_window, report)
    select 'run-listed-' || id, id, 1, 'runner', 'applied', now(), false, false, true, true,
      false, '{}' from workspaces`);
  await seeded.database.query("analyze runs");
  expect(listings).toHaveLength(8);
  for (const sql of listings) {
    const lines = await seeded.database.query<Record<string, unknown>>(`explain ${sql}`, [
      "",
      null,
      500,
    ]);
    const plan = lines.map((line) => String(line["QUERY PLAN"])).join("\n");
    expect.soft(plan, sql).toMatch(/Index Scan using \w+_pkey/);
    expect.soft(plan, sql).not.toMatch(/Seq Scan|Sort/);
  }
});
