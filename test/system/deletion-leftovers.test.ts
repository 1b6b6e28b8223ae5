import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { idsBelow, type Rows, rowsWith, saying } from "../stack/leftovers.ts";
import { expectStatus, stateFile, writeState } from "../stack/state.ts";
import { storeView } from "../stack/store.ts";
import { useFixture } from "./fixture.ts";
import { type FullOrganization, newFullOrganization } from "./full-organization.ts";

// Bytes are deleted from the store soon, so that the test can observe their deletion.
const fixture = useFixture({ settings: { SWEEP_GRACE: "3", BLOB_DELETION_DELAY: "0" } });

/** Returns the rows of all services' tables, and the keys of the blob store, that contain one of the texts. */
async function leftovers(texts: readonly string[]): Promise<Rows & { blobs: string[] }> {
  const { databases, environments } = fixture().stack;
  const [rows, keys] = await Promise.all([
    rowsWith(databases, texts),
    storeView(environments.state).keys(),
  ]);
  const blobs = keys.filter((key) => texts.some((text) => key.includes(text)));
  const said = Object.entries(rows).map(([table, rows]) => [
    table,
    rows.map(saying).toSorted(byId),
  ]);
  return { ...Object.fromEntries(said), blobs };
}

const byId = (a: Rows[string][number], b: Rows[string][number]) =>
  String(a.workspace_id) < String(b.workspace_id) ? -1 : 1;

/**
 * Waits until the outboxes, consumers, collectors and the sweeper have finished their work: the only rows that contain
 * the texts are then `expected`, and no blob key contains them.
 */
async function expectLeft(texts: readonly string[], expected: Rows): Promise<void> {
  let left: Awaited<ReturnType<typeof leftovers>> | undefined;
  const isClean = async () => {
    left = await leftovers(texts);
    expect(left).toEqual({ blobs: [], ...expected });
    return true;
  };
  await waitFor(isClean, { interval: 300 }).catch(() => {});
  expect(left).toEqual({ blobs: [], ...expected });
}

/** Returns the rows that remain after a workspace is deleted: only tombstones with its id. */
const ofWorkspace = (workspaceId: string) => ({
  "workspaces.workspace_deletions": [{ workspace_id: workspaceId }],
  "state.workspace_states": [
    {
      workspace_id: workspaceId,
      dropped_at: expect.any(String),
      purged_at: expect.any(String),
    },
  ],
});

/**
 * Returns the ids of an object and its dependents, to search for them after the deletion. First checks that each table
 * in `atLeast` contains one of them.
 */
async function traces(id: string, atLeast: readonly string[]): Promise<string[]> {
  const ids = await idsBelow(fixture().stack.databases, id);
  const tables = Object.keys(await rowsWith(fixture().stack.databases, ids));
  for (const table of atLeast) expect(tables).toContain(table);
  return ids;
}

const onWorkspaces = [
  ...["team_accesses", "runs", "run_tokens"].map((table) => `access.${table}`),
  ...[
    "agent_pool_workspaces",
    "configuration_versions",
    "data_retention_policies",
    "remote_state_consumers",
    "runs",
    "tag_bindings",
    "workspace_performance",
    "workspace_readmes",
    "workspaces",
  ].map((table) => `workspaces.${table}`),
  ...["workspace_states", "state_versions", "state_version_outputs", "blobs"].map(
    (table) => `state.${table}`,
  ),
];
const onProjects = [
  "access.team_accesses",
  "workspaces.agent_pool_projects",
  "workspaces.projects",
  "workspaces.tag_bindings",
  "workspaces.workspace_counts",
];
const onOrganizations = [
  ...["organizations", "organization_memberships", "team_members", "teams", "tokens"].map(
    (table) => `access.${table}`,
  ),
  ...["agent_pools", "organizations", "reserved_tag_keys", "ssh_keys", "tags"].map(
    (table) => `workspaces.${table}`,
  ),
];

/** Unlocks the workspace by force, and writes a state without managed resources. */
async function empty({ owner, workspaceId }: FullOrganization): Promise<void> {
  const path = `/workspaces/${workspaceId}`;
  await expectStatus(200, owner.api.post(`${path}/actions/force-unlock`));
  const current = await expectStatus(200, owner.api.get(`${path}/current-state-version`));
  const { lineage } = current.body.data.attributes;
  await expectStatus(201, writeState(owner.api, workspaceId, stateFile({ lineage, serial: 4 })));
}

test("a force-deleted workspace leaves only its id", async () => {
  proves("Workspace endpoints/deletion leaves nothing but bare ids");
  const { owner, workspaceId, workspaceName } = await newFullOrganization(fixture());
  const texts = await traces(workspaceId, onWorkspaces);
  await expectStatus(204, owner.api.delete(`/workspaces/${workspaceId}`));
  await expectLeft([...texts, workspaceName], ofWorkspace(workspaceId));
});

test("a safely deleted workspace leaves only its id, and its deleted project leaves nothing", async () => {
  proves("Workspace endpoints/deletion leaves nothing but bare ids");
  const all = await newFullOrganization(fixture());
  const { owner, workspaceId, workspaceName, projectId } = all;
  await empty(all);
  const texts = await traces(workspaceId, onWorkspaces);
  const safeDelete = () => owner.api.post(`/workspaces/${workspaceId}/actions/safe-delete`);
  await waitFor(async () => (await safeDelete()).status === 204);
  await expectLeft([...texts, workspaceName], ofWorkspace(workspaceId));

  const ofProject = await traces(projectId, onProjects);
  await expectStatus(204, owner.api.delete(`/projects/${projectId}`));
  await expectLeft(ofProject, {});
});

test("a deleted organization with its contents leaves only ids", async () => {
  proves(
    "Workspace endpoints/deletion leaves nothing but bare ids",
    "Organizations/deleting cascades",
  );
  const { owner, organization, organizationId, ...objects } = await newFullOrganization(fixture());
  const all = [...onOrganizations, ...onProjects, ...onWorkspaces];
  const texts = await traces(organizationId, all);
  expect(texts).toContain(objects.workspaceId);
  const { body } = await owner.api.get(`/organizations/${organization}/workspaces`);
  const ids: string[] = body.data.map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(2);
  await expectStatus(204, owner.api.delete(`/organizations/${organization}`));

  const tombstones = (table: keyof ReturnType<typeof ofWorkspace>) =>
    ids.toSorted().flatMap((id) => ofWorkspace(id)[table]);
  await expectLeft([...texts, organization, objects.workspaceName], {
    "workspaces.workspace_deletions": tombstones("workspaces.workspace_deletions"),
    "state.workspace_states": tombstones("state.workspace_states"),
    "workspaces.organization_deletions": [{ organization_id: organizationId }],
    "access.organizations": [
      {
        id: organizationId,
        user_tokens_enabled: true,
        created_at: expect.any(String),
        dropped_at: expect.any(String),
      },
    ],
  });
});
