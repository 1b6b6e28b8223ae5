import { document, upload } from "../../stack/http.ts";
import { announcement, expectStatus, inlineState, stateFile } from "../../stack/state.ts";
import type { Estate } from "../../system/estate.ts";
import { newProject, newWorkspace } from "../../system/fixture.ts";
import type { Caller, Role } from "./caller.ts";
import { renewals } from "./renewals.ts";
import { newSite, type Site } from "./site.ts";
import type { Stage } from "./stage.ts";

const outputs = { text: { value: "a", type: "string" } };
const encoded = Buffer.from(JSON.stringify(outputs)).toString("base64");

/** Existing objects. */
const given = (ids: Readonly<Record<string, string | undefined>>): Estate =>
  Object.fromEntries(
    Object.entries(ids).flatMap(([name, id]) => (id === undefined ? [] : [[name, id]])),
  );

/** Creates a caller with a role in a separate organization, which it may change freely. */
export async function newStageApart({ stack, administrator }: Site, role: Role): Promise<Stage> {
  const site = await newSite(stack, administrator);
  const { id: projectId } = await newProject(site);
  const { id: workspaceId } = await newWorkspace(site, {}, projectId);
  const caller = await role.cast(site, { projectId, workspaceId });
  return { site, caller, estate: { organizationName: site.organization, projectId, workspaceId } };
}

/** Creates a caller with a role and one of each object. */
export async function newStage(main: Site, role: Role): Promise<Stage> {
  const { stack, administrator } = main;
  const site = role.withoutUserTokens ? await newSite(stack, administrator) : main;
  const [{ id: projectId }, { id: otherProjectId }, { id: emptyProjectId }] = await Promise.all([
    newProject(site),
    newProject(site),
    newProject(site),
  ]);
  const workspace = await newWorkspace(site, {}, projectId);
  const caller = await role.cast(site, { projectId, workspaceId: workspace.id });
  await caller.give({ projectId: otherProjectId });
  await caller.give({ projectId: emptyProjectId });
  const estate: Estate = {
    ...given({
      ownUserId: caller.userId,
      ownTeamId: caller.teamId,
      ownTeamProjectId: caller.given?.teamProjectId,
      ownTeamWorkspaceId: caller.given?.teamWorkspaceId,
      ownMembershipId: caller.invitationId ?? (await membershipOf(site, caller)),
    }),
    organizationName: site.organization,
    projectId,
    otherProjectId,
    emptyProjectId,
    workspaceId: workspace.id,
    name: workspace.attributes.name,
    membershipId: site.ownerMembershipId,
    tokenId: site.ownerTokenId,
    secretTeamId: site.secretTeamId,
    userId: site.owner.id,
    ownersTeamId: site.ownersTeamId,
  };
  const stage = { site, caller, estate };
  await writeStates(stage);
  const {
    teamToken: _,
    teamProject: __,
    organizationPolicy: ___,
    sitePolicy: ____,
    ...own
  } = renewals;
  for (const renew of Object.values(own)) await renew(stage);
  await nameConsumers(stage);
  if (role.withoutUserTokens) {
    const path = `/organizations/${site.organization}`;
    const off = document("organizations", { "user-tokens-enabled": false });
    await expectStatus(200, site.owner.api.patch(path, off));
  }
  return stage;
}

async function membershipOf(
  { owner, organization }: Site,
  { username }: Caller,
): Promise<string | undefined> {
  if (username === undefined) return undefined;
  const path = `/organizations/${organization}/organization-memberships?q=${username}`;
  const { body } = await expectStatus(200, owner.api.get(path));
  return body.data[0]?.id;
}

/** One consumer where the caller has its role, and one where it has no access. */
async function nameConsumers({ site, estate }: Stage): Promise<void> {
  const path = `/workspaces/${estate.workspaceId}/relationships/remote-state-consumers`;
  const ids = [estate.spareId, site.remoteWorkspaceId];
  const consumers = { data: ids.map((id) => ({ type: "workspaces", id })) };
  await expectStatus(204, site.owner.api.post(path, consumers));
}

/** Two state versions, the older one uploaded, the newer one with outputs. */
async function writeStates({ site: { owner }, estate }: Stage): Promise<void> {
  const path = `/workspaces/${estate.workspaceId}`;
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
  estate.oldStateVersionId = first.body.data.id;
  estate.uploadUrl = uploadUrl;
  estate.uploaded = state.bytes.toString();
  estate.stateVersionId = data.id;
  estate.stateVersionOutputId = listed.body.data[0].id;
  estate.downloadUrl = data.attributes["hosted-state-download-url"];
}
