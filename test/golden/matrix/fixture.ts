import { type Api, document } from "../../stack/http.ts";
import { newOrganization, organizationId, unusedName } from "../../stack/organization.ts";
import type { RoleFixture } from "../../stack/roles.ts";
import type { Stack } from "../../stack/stack.ts";
import { expectStatus } from "../../stack/state.ts";
import { type ApiUser, newProject, newUser, newWorkspace } from "../../system/fixture.ts";

/** An organization in which callers get their roles, with its owner and an administrator of the installation. */
export interface MatrixFixture extends RoleFixture {
  organization: string;
  owner: ApiUser;
  administrator: ApiUser;
  ownersTeamId: string;
  ownerMembershipId: string;
  /** A workspace in a project to which only owners and callers with organization-wide roles have access. */
  remoteWorkspaceId: string;
  /** A secret team without members. */
  secretTeamId: string;
  ownerTokenId: string;
}

type OwnedOrganization = Pick<MatrixFixture, "organization" | "owner">;

export const policy = document("data-retention-policy-delete-olders", {
  "delete-older-than-n-days": 30,
});

export async function setOrganizationPolicy({
  owner,
  organization,
}: OwnedOrganization): Promise<void> {
  const path = `/organizations/${organization}/relationships/data-retention-policy`;
  await expectStatus(200, owner.api.post(path, policy));
}

export async function setInstallationPolicy({
  administrator,
}: Pick<MatrixFixture, "administrator">): Promise<void> {
  const path = "/admin/general-settings/relationships/data-retention-policy";
  await expectStatus(200, administrator.api.post(path, policy));
}

/** Creates an organization with a new owner. All callers share its objects, so calls must not delete them. */
export async function newMatrixFixture(
  stack: Stack,
  administrator: ApiUser,
): Promise<MatrixFixture> {
  const creator = await newUser(stack);
  const organization = await newOrganization(creator.api);
  const base = `/organizations/${organization}`;
  const [teams, memberships] = await Promise.all([
    expectStatus(200, creator.api.get(`${base}/teams?filter[names]=owners`)),
    expectStatus(200, creator.api.get(`${base}/organization-memberships?q=${creator.username}`)),
  ]);
  const { id: projectId } = await newProject({ organization, owner: creator });
  const remote = await newWorkspace({ organization, owner: creator }, {}, projectId);
  await setOrganizationPolicy({ organization, owner: creator });
  await setInstallationPolicy({ administrator });
  const secret = { name: unusedName("team"), visibility: "secret" };
  const tokens = `/users/${creator.id}/authentication-tokens`;
  return {
    secretTeamId: await make(creator.api, `${base}/teams`, "teams", secret),
    ownerTokenId: await make(creator.api, tokens, "authentication-tokens", {}),
    remoteWorkspaceId: remote.id,
    stack,
    organization,
    organizationId: await organizationId(stack, organization),
    owner: creator,
    administrator,
    ownersTeamId: teams.body.data[0].id,
    ownerMembershipId: memberships.body.data[0].id,
  };
}

/** Creates an object as the caller of `api`; returns its id. */
export async function make(
  api: Api,
  path: string,
  type: string,
  attributes: Record<string, unknown>,
  relationships?: Record<string, unknown>,
): Promise<string> {
  const created = await api.post(path, document(type, attributes, relationships));
  if (created.status === 200 || created.status === 201) return created.body.data.id;
  throw new Error(
    `Cannot create ${type} at ${path}: ${created.status} ${JSON.stringify(created.body)}`,
  );
}
