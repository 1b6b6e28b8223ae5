import { newId } from "@statehouse/postgres/ids";
import { waitFor } from "@statehouse/testing";
import { type Answer, type Api, document, linkage, upload } from "../stack/http.ts";
import { newOrganization, organizationId, unusedName } from "../stack/organization.ts";
import {
  announcement,
  expectStatus,
  processedVersion,
  stateFile,
  writeState,
} from "../stack/state.ts";
import { type ApiUser, type Fixture, newProject, newUser, newWorkspace } from "./fixture.ts";

/** An organization with one object of every kind, most of them attached to one workspace. */
export interface FullOrganization {
  owner: ApiUser;
  /** A user in the team that has every grant. */
  member: ApiUser;
  organization: string;
  organizationId: string;
  projectId: string;
  /** A workspace in the project. */
  workspaceId: string;
  workspaceName: string;
}

const flags = (...names: string[]) => Object.fromEntries(names.map((name) => [name, true]));

/** Creates a full organization with a new owner. Uses the API for everything that has an endpoint. */
export async function newFullOrganization({
  stack,
}: Pick<Fixture, "stack">): Promise<FullOrganization> {
  const [owner, member] = [await newUser(stack), await newUser(stack)];
  const { api } = owner;
  const organization = await newOrganization(api);
  const path = `/organizations/${organization}`;
  const made = async (at: string, body: unknown, status = 201): Promise<string> =>
    (await expectStatus(status, api.post(at, body))).body.data.id;
  const { id: projectId } = await newProject({ organization, owner });
  const workspace = await newWorkspace({ organization, owner }, {}, projectId);
  const other = await newWorkspace({ organization, owner });

  await made(`${path}/reserved-tag-keys`, document("reserved-tag-keys", { key: "reserved" }));
  const retention = document("data-retention-policy-delete-olders", {
    "delete-older-than-n-days": 30,
  });
  for (const target of [path, `/workspaces/${workspace.id}`]) {
    await made(`${target}/relationships/data-retention-policy`, retention, 200);
  }
  const keyId = await made(
    `${path}/ssh-keys`,
    document("ssh-keys", { name: "deploy", value: "a private key" }),
  );
  await expectStatus(
    200,
    api.patch(
      `/workspaces/${workspace.id}/relationships/ssh-key`,
      document("workspaces", { id: keyId }),
    ),
  );
  await furnishPools(api, { path, projectId, workspaceId: workspace.id });
  await tag(api, { projectId, workspace });
  for (const [from, to] of [
    [workspace.id, other.id],
    [other.id, workspace.id],
  ]) {
    const consumers = `/workspaces/${from}/relationships/remote-state-consumers`;
    await expectStatus(204, api.post(consumers, { data: [{ type: "workspaces", id: to }] }));
  }
  await admit({ api, path, projectId, workspaceId: workspace.id }, member);
  await run(stack, api, { workspaceId: workspace.id, ownerId: owner.id });
  await keepStates(api, workspace.id);
  return {
    owner,
    member,
    organization,
    organizationId: await organizationId(stack, organization),
    projectId,
    workspaceId: workspace.id,
    workspaceName: workspace.attributes.name,
  };
}

interface FurnishedWorkspace {
  path: string;
  projectId: string;
  workspaceId: string;
}

/**
 * Creates an agent pool whose relationships name the project and the workspace. The workspace uses the pool, and the
 * pool is the project's default.
 */
async function furnishPools(
  api: Api,
  { path, projectId, workspaceId }: FurnishedWorkspace,
): Promise<void> {
  const many = (type: string, id: string) => ({ data: [{ type, id }] });
  const { body } = await expectStatus(
    201,
    api.post(
      `${path}/agent-pools`,
      document(
        "agent-pools",
        { name: "agents", "organization-scoped": false },
        {
          "allowed-workspaces": many("workspaces", workspaceId),
          "allowed-projects": many("projects", projectId),
          "excluded-workspaces": many("workspaces", workspaceId),
        },
      ),
    ),
  );
  const pool = { "execution-mode": "agent", "agent-pool-id": body.data.id };
  const inherited = document(
    "projects",
    { "default-execution-mode": "agent" },
    { "default-agent-pool": linkage("agent-pools", body.data.id) },
  );
  await expectStatus(200, api.patch(`/workspaces/${workspaceId}`, document("workspaces", pool)));
  await expectStatus(200, api.patch(`/projects/${projectId}`, inherited));
}

/** Tags the project and the workspace. A flat tag is identified by its name and exists while a workspace has it. */
async function tag(
  api: Api,
  { projectId, workspace }: { projectId: string; workspace: Answer["body"] },
): Promise<void> {
  const bindings = {
    data: [
      { type: "tag-bindings", attributes: { key: "reserved", value: "42" } },
      { type: "tag-bindings", attributes: { key: "plain", value: "" } },
    ],
  };
  await expectStatus(200, api.patch(`/projects/${projectId}/tag-bindings`, bindings));
  await expectStatus(200, api.patch(`/workspaces/${workspace.id}/tag-bindings`, bindings));
  await expectStatus(
    204,
    api.post(`/workspaces/${workspace.id}/relationships/tags`, {
      data: [{ type: "tags", attributes: { name: `of-${workspace.attributes.name}` } }],
    }),
  );
}

/**
 * Creates a team with every kind of access and with tokens, and invites two users to it, of whom `member` accepts. Also
 * creates the tokens of the organization.
 */
async function admit(target: FurnishedWorkspace & { api: Api }, member: ApiUser): Promise<void> {
  const { api, path, projectId, workspaceId } = target;
  const made = async (at: string, body: unknown, status = 201): Promise<string> =>
    (await expectStatus(status, api.post(at, body))).body.data.id;
  const teamId = await made(
    `${path}/teams`,
    document("teams", {
      name: "everything",
      "organization-access": flags("read-workspaces", "manage-membership"),
    }),
  );
  const teams = { teams: { data: [{ type: "teams", id: teamId }] } };
  const invite = (email: string) =>
    made(
      `${path}/organization-memberships`,
      document("organization-memberships", { email }, teams),
    );
  const membership = await invite(`${member.username}@example.com`);
  await expectStatus(
    200,
    member.api.post(`/organization-memberships/${membership}/actions/accept`),
  );
  await invite(`${unusedName("invited")}@example.com`);
  for (const [noun, id, custom] of [
    ["project", projectId, { "workspace-access": { locking: true } }],
    ["workspace", workspaceId, { "workspace-locking": true }],
  ] as const) {
    await made(
      `/team-${noun}s`,
      document(
        `team-${noun}s`,
        { access: "custom", ...custom },
        { team: linkage("teams", teamId), [noun]: linkage(`${noun}s`, id) },
      ),
      200,
    );
  }
  const token = (attributes: Record<string, unknown>) =>
    document("authentication-tokens", attributes);
  await made(`/teams/${teamId}/authentication-token`, token({}));
  await made(`/teams/${teamId}/authentication-tokens`, token({ description: "described" }));
  await made(`${path}/authentication-token`, token({}));
  await made(`${path}/authentication-token?token=audit-trails`, token({}));
}

/** Creates two runs with every attribute that can be reported. One has ended, the other has a token. */
async function run(
  stack: Fixture["stack"],
  api: Api,
  { workspaceId, ownerId }: { workspaceId: string; ownerId: string },
): Promise<void> {
  const { reports: runner } = await stack.runnerCalls("runner");
  const configurationVersionId = await runner.configurationVersion({
    workspaceId,
    ingressAttributes: { id: newId("ia"), commitSha: "1".repeat(40) },
  });
  await runner.readme({ workspaceId, rawMarkdown: "# Full" });
  const usual = { workspaceId, configurationVersionId, createdByUserId: ownerId };
  const ended = await runner.run({
    ...usual,
    status: "applied",
    plan: { id: newId("plan"), durationMs: 7n },
    apply: { id: newId("apply"), durationMs: 9n },
  });
  const runId = newId("run");
  const { tokens } = await stack.runnerCalls("runner");
  await tokens.createRunToken({ runId, workspaceId });
  await runner.run({ ...usual, runId, status: "planning", plan: { id: newId("plan") } });
  await waitFor(async () => {
    const { relationships, attributes } = (await api.get(`/workspaces/${workspaceId}`)).body.data;
    const current = relationships["current-run"].data?.id;
    const reported = current === runId || current === ended;
    return reported && relationships.readme.data && attributes["workspace-kpis-run-count"] === 1;
  });
}

/** Creates a state with outputs in raw and JSON form, a newer state, and a pending version under a lock. */
async function keepStates(api: Api, workspaceId: string): Promise<void> {
  const outputs = { secret: { value: "a", type: "string", sensitive: true } };
  const first = stateFile({ outputs, resources: 2 });
  const json = Buffer.from("{}").toString("base64");
  await expectStatus(201, writeState(api, workspaceId, first, { "json-state": json }));
  const second = stateFile({ outputs, lineage: first.lineage, serial: 2 });
  const { body } = await writeState(api, workspaceId, second);
  await processedVersion(api, body.data.id);
  await expectStatus(200, api.post(`/workspaces/${workspaceId}/actions/lock`));
  const third = stateFile({ lineage: first.lineage, serial: 3 });
  const pending = await expectStatus(
    201,
    api.post(`/workspaces/${workspaceId}/state-versions`, announcement(third)),
  );
  const { "hosted-json-state-upload-url": url } = pending.body.data.attributes;
  // Only one of these two concurrent uploads is stored. The bytes of the other upload have no row.
  await Promise.all([upload(url, "{}"), upload(url, "{ }")]);
}
