import { runPermissions } from "@statehouse/access/run-token/domain";
import type { Grants, Principal } from "@statehouse/authorization";
import { newId } from "@statehouse/postgres/ids";
import { newOrganization } from "../../stack/organization.ts";
import { nominalGrants } from "../../stack/roles.ts";
import { expectStatus } from "../../stack/state.ts";
import { type ApiUser, newUser, recordedApi } from "../../system/fixture.ts";
import type { Caller, Role } from "./caller.ts";
import { type MatrixFixture, make } from "./fixture.ts";
import { asTeamToken, byTeam, held } from "./team-callers.ts";
import { newToken } from "./token.ts";

const gone = (type: Principal["type"] = "user"): Grants =>
  nominalGrants({ type, id: "nobody" }, undefined);
const nothing = async () => {};

/** Creates a caller without valid credentials. */
const dead = (name: string, { url }: MatrixFixture["stack"], token: string): Caller => ({
  name,
  type: undefined,
  api: recordedApi(url, token === "" ? undefined : token),
  token,
  grants: () => gone(),
  give: nothing,
});

/** Creates a user in the owners team. */
async function newOwner(fixture: MatrixFixture): Promise<ApiUser> {
  const user = await newUser(fixture.stack);
  await fixture.stack.people.addMember(fixture.ownersTeamId, user);
  return user;
}

const ownerGrants = (
  { organizationId, ownersTeamId }: MatrixFixture,
  userId: string,
  refused = false,
) =>
  nominalGrants({ type: "user", id: userId }, organizationId, {
    owner: true,
    teamIds: [ownersTeamId],
    refused,
  });

const owning = (
  name: string,
  fixture: MatrixFixture,
  owner: ApiUser,
  refused?: boolean,
): Caller => ({
  ...owner,
  name,
  type: "user",
  userId: owner.id,
  grants: () => ownerGrants(fixture, owner.id, refused),
  give: nothing,
});

const user = (name: string, cast: (fixture: MatrixFixture) => Promise<Caller>): Role => ({
  name,
  cast,
});

/** The roles of all callers; each caller is one column of the authorization matrix. */
export const roles: readonly Role[] = [
  user("owner", async (fixture) => owning("owner", fixture, await newOwner(fixture))),
  user("owners team token", async (fixture) => {
    const path = `/teams/${fixture.ownersTeamId}/authentication-tokens`;
    const { token, api } = await newToken(fixture, path);
    const { organizations } = ownerGrants(fixture, "");
    const principal = { type: "team", id: fixture.ownersTeamId } as const;
    const grants = () => ({ ...gone(), principal, organizations });
    return { name: "owners team token", type: "team", token, api, grants, give: nothing };
  }),
  user("organization token", async (fixture) => {
    const path = `/organizations/${fixture.organization}/authentication-token`;
    const { token, api } = await newToken(fixture, path);
    const principal = { type: "organization", id: fixture.organizationId } as const;
    const grants = () => nominalGrants(principal, fixture.organizationId, { owner: true });
    return { name: "organization token", type: "organization", token, api, grants, give: nothing };
  }),
  ...byTeam,
  asTeamToken(held("manage-teams")),
  asTeamToken(held("manage-projects")),
  asTeamToken(held("project write")),
  asTeamToken(held("workspace admin")),
  {
    name: "run token",
    cast: async (fixture, { workspaceId }) => {
      const { tokens, locks } = await fixture.stack.runnerCalls("runner");
      const runId = newId("run");
      const { secret: token } = await tokens.createRunToken({ runId, workspaceId });
      const grant = { workspaceId, access: "custom", permissions: runPermissions };
      return {
        name: "run token",
        type: "run",
        token,
        api: recordedApi(fixture.stack.url, token),
        grants: () =>
          nominalGrants({ type: "run", id: runId }, fixture.organizationId, {
            workspaces: new Map([[workspaceId, [grant]]]),
          }),
        give: nothing,
        lock: async () => {
          await locks.lockAsRun({ workspaceId, runId, reason: "" });
        },
      };
    },
  },
  user("audit trails token", async (fixture) => {
    const path = `/organizations/${fixture.organization}/authentication-token?token=audit-trails`;
    const { token, api } = await newToken(fixture, path);
    const name = "audit trails token";
    return {
      name,
      type: "organization",
      token,
      api,
      grants: () => ({ ...gone("organization"), auditTrailOf: fixture.organizationId }),
      give: nothing,
    };
  }),
  user("administrator", async ({ stack }) => {
    const { id, token, api } = await newUser(stack, { administrator: true });
    const principal = { type: "user", id } as const;
    const grants = () => ({ ...gone(), principal, administrator: true });
    return { name: "administrator", type: "user", userId: id, token, api, grants, give: nothing };
  }),
  user("invited, not yet in", async (fixture) => {
    const user = await newUser(fixture.stack);
    const path = `/organizations/${fixture.organization}/organization-memberships`;
    const email = `${user.username}@example.com`;
    const invitationId = await make(fixture.owner.api, path, "organization-memberships", { email });
    const principal = { type: "user", id: user.id } as const;
    const grants = () => ({ ...gone(), principal });
    const name = "invited, not yet in";
    return { ...user, name, type: "user", userId: user.id, invitationId, grants, give: nothing };
  }),
  user("stranger", async ({ stack }) => {
    const user = await newUser(stack);
    const organization = await newOrganization(user.api);
    const principal = { type: "user", id: user.id } as const;
    const grants = () => ({ ...gone(), principal });
    const name = "stranger";
    return { ...user, name, type: "user", userId: user.id, organization, grants, give: nothing };
  }),
  {
    name: "owner, user tokens refused",
    withoutUserTokens: true,
    cast: async (fixture) =>
      owning("owner, user tokens refused", fixture, await newOwner(fixture), true),
  },
  user("owner, expired token", async (fixture) => {
    const owner = await newOwner(fixture);
    await expireTokensOf(fixture, owner.id);
    return dead("owner, expired token", fixture.stack, owner.token);
  }),
  user("owner, revoked token", async (fixture) => {
    const owner = await newOwner(fixture);
    const path = `/users/${owner.id}/authentication-tokens`;
    const { id, token } = await newToken(fixture, path, owner.api);
    await expectStatus(204, owner.api.delete(`/authentication-tokens/${id}`));
    return dead("owner, revoked token", fixture.stack, token);
  }),
  user("owner, suspended", async (fixture) => {
    const owner = await newOwner(fixture);
    const path = `/admin/users/${owner.id}/actions/suspend`;
    await expectStatus(200, fixture.administrator.api.post(path));
    return dead("owner, suspended", fixture.stack, owner.token);
  }),
  user("no token", async ({ stack }) => dead("no token", stack, "")),
];

/**
 * Expires the user's tokens in the database, because no request can set an expiry in the past and the test should not
 * wait until a token expires.
 */
async function expireTokensOf({ stack }: MatrixFixture, userId: string): Promise<void> {
  const sql = "update tokens set expired_at = now() - interval '1 second' where user_id = $1";
  await stack.rows("access", sql, [userId]);
}
