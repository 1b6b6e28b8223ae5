import { document, upload } from "../../stack/http.ts";
import { announcement, expectStatus, inlineState, stateFile } from "../../stack/state.ts";
import { newProject, newWorkspace } from "../../system/fixture.ts";
import type { ObjectIds } from "../../system/object-ids.ts";
import type { Caller, Role } from "./caller.ts";
import { type MatrixFixture, newMatrixFixture } from "./fixture.ts";
import type { PreparedCaller } from "./prepared-caller.ts";
import { renewals } from "./renewals.ts";

const outputs = { text: { value: "a", type: "string" } };
const encoded = Buffer.from(JSON.stringify(outputs)).toString("base64");

/** Returns the ids that are defined. */
const defined = (ids: Readonly<Record<string, string | undefined>>): ObjectIds =>
  Object.fromEntries(
    Object.entries(ids).flatMap(([name, id]) => (id === undefined ? [] : [[name, id]])),
  );

/** Creates a caller with a role in a separate organization that the caller may change. */
export async function prepareCallerApart(
  { stack, administrator }: MatrixFixture,
  role: Role,
): Promise<PreparedCaller> {
  const fixture = await newMatrixFixture(stack, administrator);
  const { id: projectId } = await newProject(fixture);
  const { id: workspaceId } = await newWorkspace(fixture, {}, projectId);
  const caller = await role.cast(fixture, { projectId, workspaceId });
  return {
    fixture,
    caller,
    objects: { organizationName: fixture.organization, projectId, workspaceId },
  };
}

/** Creates a caller with a role, and one object of each kind. */
export async function prepareCaller(main: MatrixFixture, role: Role): Promise<PreparedCaller> {
  const { stack, administrator } = main;
  const fixture = role.withoutUserTokens ? await newMatrixFixture(stack, administrator) : main;
  const [{ id: projectId }, { id: otherProjectId }, { id: emptyProjectId }] = await Promise.all([
    newProject(fixture),
    newProject(fixture),
    newProject(fixture),
  ]);
  const workspace = await newWorkspace(fixture, {}, projectId);
  const caller = await role.cast(fixture, { projectId, workspaceId: workspace.id });
  await caller.give({ projectId: otherProjectId });
  await caller.give({ projectId: emptyProjectId });
  const objects: ObjectIds = {
    ...defined({
      ownUserId: caller.userId,
      ownTeamId: caller.teamId,
      ownTeamProjectId: caller.roleGrants?.teamProjectId,
      ownTeamWorkspaceId: caller.roleGrants?.teamWorkspaceId,
      ownMembershipId: caller.invitationId ?? (await membershipOf(fixture, caller)),
    }),
    organizationName: fixture.organization,
    projectId,
    otherProjectId,
    emptyProjectId,
    workspaceId: workspace.id,
    name: workspace.attributes.name,
    membershipId: fixture.ownerMembershipId,
    tokenId: fixture.ownerTokenId,
    secretTeamId: fixture.secretTeamId,
    userId: fixture.owner.id,
    ownersTeamId: fixture.ownersTeamId,
  };
  const prepared = { fixture, caller, objects };
  await writeStates(prepared);
  const {
    teamToken: _,
    teamProject: __,
    organizationPolicy: ___,
    sitePolicy: ____,
    ...own
  } = renewals;
  for (const renew of Object.values(own)) await renew(prepared);
  await nameConsumers(prepared);
  if (role.withoutUserTokens) {
    const path = `/organizations/${fixture.organization}`;
    const off = document("organizations", { "user-tokens-enabled": false });
    await expectStatus(200, fixture.owner.api.patch(path, off));
  }
  return prepared;
}

async function membershipOf(
  { owner, organization }: MatrixFixture,
  { username }: Caller,
): Promise<string | undefined> {
  if (username === undefined) return undefined;
  const path = `/organizations/${organization}/organization-memberships?q=${username}`;
  const { body } = await expectStatus(200, owner.api.get(path));
  return body.data[0]?.id;
}

/**
 * Adds two remote state consumers: one in a project where the caller has its role, and one to which only owners and
 * callers with organization-wide roles have access.
 */
async function nameConsumers({ fixture, objects }: PreparedCaller): Promise<void> {
  const path = `/workspaces/${objects.workspaceId}/relationships/remote-state-consumers`;
  const ids = [objects.spareId, fixture.remoteWorkspaceId];
  const consumers = { data: ids.map((id) => ({ type: "workspaces", id })) };
  await expectStatus(204, fixture.owner.api.post(path, consumers));
}

/**
 * Writes two state versions: the older one through its upload URL, the newer one inline and with its outputs as JSON.
 */
async function writeStates({ fixture: { owner }, objects }: PreparedCaller): Promise<void> {
  const path = `/workspaces/${objects.workspaceId}`;
  const state = stateFile({ outputs });
  await expectStatus(200, owner.api.post(`${path}/actions/lock`));
  const first = await expectStatus(
    201,
    owner.api.post(`${path}/state-versions`, announcement(state)),
  );
  const uploadUrl: string = first.body.data.attributes["hosted-state-upload-url"];
  await expectStatus(200, upload(uploadUrl, state.bytes));
  const next = stateFile({ outputs, lineage: state.lineage, serial: 2, marker: "next" });
  const second = await expectStatus(
    201,
    owner.api.post(`${path}/state-versions`, inlineState(next, { "json-state-outputs": encoded })),
  );
  await expectStatus(200, owner.api.post(`${path}/actions/unlock`));
  const { data } = second.body;
  const listed = await expectStatus(200, owner.api.get(`/state-versions/${data.id}/outputs`));
  objects.oldStateVersionId = first.body.data.id;
  objects.uploadUrl = uploadUrl;
  objects.uploaded = state.bytes.toString();
  objects.stateVersionId = data.id;
  objects.stateVersionOutputId = listed.body.data[0].id;
  objects.downloadUrl = data.attributes["hosted-state-download-url"];
}
