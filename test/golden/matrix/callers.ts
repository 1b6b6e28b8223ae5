import { runPermissions } from "@statehouse/access/domain/run-token";
import type { Grants, Principal } from "@statehouse/authorization";
import { newId } from "@statehouse/postgres/ids";
import { newOrganization } from "../../stack/organization.ts";
import { nominalGrants } from "../../stack/roles.ts";
import { expectStatus } from "../../stack/state.ts";
import { newParty, type Party, recordedApi } from "../../system/fixture.ts";
import type { Caller, Role } from "./caller.ts";
import { make, type Site } from "./site.ts";
import { asTeamToken, byTeam, held } from "./team-callers.ts";
import { newToken } from "./token.ts";

const gone = (type: Principal["type"] = "user"): Grants =>
  nominalGrants({ type, id: "nobody" }, undefined);
const nothing = async () => {};

/** A caller without valid credentials. */
const dead = (name: string, { url }: Site["stack"], token: string): Caller => ({
  name,
  type: undefined,
  api: recordedApi(url, token === "" ? undefined : token),
  token,
  grants: () => gone(),
  give: nothing,
});

/** A user among the owners. */
async function newOwner(site: Site): Promise<Party> {
  const party = await newParty(site.stack);
  await site.stack.people.addMember(site.ownersTeamId, party);
  return party;
}

const ownerGrants = ({ organizationId, ownersTeamId }: Site, userId: string, refused = false) =>
  nominalGrants({ type: "user", id: userId }, organizationId, {
    owner: true,
    teamIds: [ownersTeamId],
    refused,
  });

const owning = (name: string, site: Site, owner: Party, refused?: boolean): Caller => ({
  ...owner,
  name,
  type: "user",
  userId: owner.id,
  grants: () => ownerGrants(site, owner.id, refused),
  give: nothing,
});

const user = (name: string, cast: (site: Site) => Promise<Caller>): Role => ({ name, cast });

/** All callers: one column of the matrix each. */
export const roles: readonly Role[] = [
  user("owner", async (site) => owning("owner", site, await newOwner(site))),
  user("owners team token", async (site) => {
    const path = `/teams/${site.ownersTeamId}/authentication-tokens`;
    const { token, api } = await newToken(site, path);
    const { organizations } = ownerGrants(site, "");
    const principal = { type: "team", id: site.ownersTeamId } as const;
    const grants = () => ({ ...gone(), principal, organizations });
    return { name: "owners team token", type: "team", token, api, grants, give: nothing };
  }),
  user("organization token", async (site) => {
    const path = `/organizations/${site.organization}/authentication-token`;
    const { token, api } = await newToken(site, path);
    const principal = { type: "organization", id: site.organizationId } as const;
    const grants = () => nominalGrants(principal, site.organizationId, { owner: true });
    return { name: "organization token", type: "organization", token, api, grants, give: nothing };
  }),
  ...byTeam,
  asTeamToken(held("manage-teams")),
  asTeamToken(held("manage-projects")),
  asTeamToken(held("project write")),
  asTeamToken(held("workspace admin")),
  {
    name: "run token",
    cast: async (site, { workspaceId }) => {
      const { tokens, locks } = await site.stack.runnerCalls("runner");
      const runId = newId("run");
      const { secret: token } = await tokens.createRunToken({ runId, workspaceId });
      const grant = { workspaceId, access: "custom", permissions: runPermissions };
      return {
        name: "run token",
        type: "run",
        token,
        api: recordedApi(site.stack.url, token),
        grants: () =>
          nominalGrants({ type: "run", id: runId }, site.organizationId, {
            workspaces: new Map([[workspaceId, [grant]]]),
          }),
        give: nothing,
        lock: async () => {
          await locks.lockAsRun({ workspaceId, runId, reason: "" });
        },
      };
    },
  },
  user("audit trails token", async (site) => {
    const path = `/organizations/${site.organization}/authentication-token?token=audit-trails`;
    const { token, api } = await newToken(site, path);
    const name = "audit trails token";
    return {
      name,
      type: "organization",
      token,
      api,
      grants: () => gone("organization"),
      give: nothing,
    };
  }),
  user("administrator", async ({ stack }) => {
    const { id, token, api } = await newParty(stack, { administrator: true });
    const principal = { type: "user", id } as const;
    const grants = () => ({ ...gone(), principal, administrator: true });
    return { name: "administrator", type: "user", userId: id, token, api, grants, give: nothing };
  }),
  user("invited, not yet in", async (site) => {
    const party = await newParty(site.stack);
    const path = `/organizations/${site.organization}/organization-memberships`;
    const email = `${party.username}@example.com`;
    const invitationId = await make(site.owner.api, path, "organization-memberships", { email });
    const principal = { type: "user", id: party.id } as const;
    const grants = () => ({ ...gone(), principal });
    const name = "invited, not yet in";
    return { ...party, name, type: "user", userId: party.id, invitationId, grants, give: nothing };
  }),
  user("stranger", async ({ stack }) => {
    const party = await newParty(stack);
    const organization = await newOrganization(party.api);
    const principal = { type: "user", id: party.id } as const;
    const grants = () => ({ ...gone(), principal });
    const name = "stranger";
    return { ...party, name, type: "user", userId: party.id, organization, grants, give: nothing };
  }),
  {
    name: "owner, user tokens refused",
    withoutUserTokens: true,
    cast: async (site) => owning("owner, user tokens refused", site, await newOwner(site), true),
  },
  user("owner, expired token", async (site) => {
    const owner = await newOwner(site);
    await expireTokensOf(site, owner.id);
    return dead("owner, expired token", site.stack, owner.token);
  }),
  user("owner, revoked token", async (site) => {
    const owner = await newOwner(site);
    const path = `/users/${owner.id}/authentication-tokens`;
    const { id, token } = await newToken(site, path, owner.api);
    await expectStatus(204, owner.api.delete(`/authentication-tokens/${id}`));
    return dead("owner, revoked token", site.stack, token);
  }),
  user("owner, suspended", async (site) => {
    const owner = await newOwner(site);
    const path = `/admin/users/${owner.id}/actions/suspend`;
    await expectStatus(200, site.administrator.api.post(path));
    return dead("owner, suspended", site.stack, owner.token);
  }),
  user("no token", async ({ stack }) => dead("no token", stack, "")),
];

/** A request cannot set an expiry in the past, and a test does not wait for one. */
async function expireTokensOf({ stack }: Site, userId: string): Promise<void> {
  const sql = "update tokens set expired_at = now() - interval '1 second' where user_id = $1";
  await stack.rows("access", sql, [userId]);
}
