import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

let access: RunningAccess;
let secret: string;
let id: string;
beforeAll(async () => {
  access = await runAccess();
  ({ id, secret } = await access.person());
});
afterAll(() => access[Symbol.asyncDispose]());

type Who = ReturnType<RunningAccess["as"]>;

const methods: Record<string, (as: Who) => Promise<unknown>> = {
  authenticate: (as) => access.authentication.authenticate({ token: secret }, as),
  getGrants: (as) => access.grants.getGrants({ principalType: "user", principalId: id }, as),
  batchCheckActions: (as) => access.grants.batchCheckActions({}, as),
  provisionOrganization: (as) =>
    access.organizations.provisionOrganization(
      { organizationId: "org-callers", creatorUserId: id },
      as,
    ),
  getPrincipalName: (as) => access.principalNames.getPrincipalName({ type: "user", id }, as),
  createUser: (as) => access.users.createUser({ username: "", email: "" }, as),
  getUserByName: (as) => access.users.getUserByName({ username: "" }, as),
  getCurrentUser: (as) => access.users.getCurrentUser({}, as),
  batchGetUsers: (as) => access.users.batchGetUsers({ ids: [] }, as),
  createTeam: (as) => access.teams.createTeam({}, as),
  addTeamMember: (as) => access.teams.addTeamMember({}, as),
  removeTeamMember: (as) => access.teams.removeTeamMember({}, as),
  batchGetTeams: (as) => access.teams.batchGetTeams({}, as),
  createTeamProject: (as) => access.teamAccess.createTeamAccess({ targetType: "project" }, as),
  getTeam: (as) => access.teams.getTeam({}, as),
  listTeams: (as) => access.teams.listTeams({}, as),
  updateTeam: (as) => access.teams.updateTeam({}, as),
  deleteTeam: (as) => access.teams.deleteTeam({}, as),
  addTeamMembers: (as) => access.teams.addTeamMembers({}, as),
  removeTeamMembers: (as) => access.teams.removeTeamMembers({}, as),
  getTeamProject: (as) => access.teamAccess.getTeamAccess({ targetType: "project" }, as),
  listTeamProjects: (as) => access.teamAccess.listTeamAccess({ targetType: "project" }, as),
  updateTeamProject: (as) => access.teamAccess.updateTeamAccess({ targetType: "project" }, as),
  deleteTeamProject: (as) => access.teamAccess.deleteTeamAccess({ targetType: "project" }, as),
  createTeamWorkspace: (as) => access.teamAccess.createTeamAccess({ targetType: "workspace" }, as),
  getTeamWorkspace: (as) => access.teamAccess.getTeamAccess({ targetType: "workspace" }, as),
  listTeamWorkspaces: (as) => access.teamAccess.listTeamAccess({ targetType: "workspace" }, as),
  updateTeamWorkspace: (as) => access.teamAccess.updateTeamAccess({ targetType: "workspace" }, as),
  deleteTeamWorkspace: (as) => access.teamAccess.deleteTeamAccess({ targetType: "workspace" }, as),
  createOrganizationMembership: (as) => access.memberships.createOrganizationMembership({}, as),
  getOrganizationMembership: (as) => access.memberships.getOrganizationMembership({}, as),
  listOrganizationMemberships: (as) => access.memberships.listOrganizationMemberships({}, as),
  batchGetOrganizationMemberships: (as) =>
    access.memberships.batchGetOrganizationMemberships({}, as),
  acceptOrganizationMembership: (as) => access.memberships.acceptOrganizationMembership({}, as),
  deleteOrganizationMembership: (as) => access.memberships.deleteOrganizationMembership({}, as),
  setOrganizationSettings: (as) => access.organizations.setOrganizationSettings({}, as),
  updateCurrentUser: (as) => access.users.updateCurrentUser({}, as),
  getUser: (as) => access.users.getUser({}, as),
  listUsers: (as) => access.users.listUsers({}, as),
  setUserSuspended: (as) => access.users.setUserSuspended({}, as),
  setUserAdministrator: (as) => access.users.setUserAdministrator({}, as),
  createUserToken: (as) => access.tokens.createUserToken({ userId: id }, as),
  listUserTokens: (as) => access.tokens.listUserTokens({ userId: id }, as),
  createTeamToken: (as) => access.tokens.createTeamToken({}, as),
  getTeamToken: (as) => access.tokens.getTeamToken({}, as),
  deleteTeamToken: (as) => access.tokens.deleteTeamToken({}, as),
  listTeamTokens: (as) => access.tokens.listTeamTokens({}, as),
  createOrganizationToken: (as) => access.tokens.createOrganizationToken({}, as),
  getOrganizationToken: (as) => access.tokens.getOrganizationToken({}, as),
  deleteOrganizationToken: (as) => access.tokens.deleteOrganizationToken({}, as),
  getToken: (as) => access.tokens.getToken({}, as),
  deleteToken: (as) => access.tokens.deleteToken({}, as),
  listTokenTtlPolicies: (as) => access.tokenTtlPolicies.listTokenTtlPolicies({}, as),
  updateTokenTtlPolicies: (as) => access.tokenTtlPolicies.updateTokenTtlPolicies({}, as),
  createRunToken: (as) => access.runTokens.createRunToken({}, as),
  renewRunToken: (as) => access.runTokens.renewRunToken({}, as),
  deleteRunToken: (as) => access.runTokens.deleteRunToken({}, as),
};

/** The names of two runners: a runner is any service whose name is `runner` or begins with `runner-`. */
const runners = ["runner", "runner-eu"];
const operators = ["standalone", "testing"];

/** The services that may call each method. A call of any other service is refused before the method runs. */
const services: Readonly<Record<string, readonly string[]>> = {
  authenticate: ["gateway", "state"],
  getGrants: ["workspaces", "state"],
  batchCheckActions: ["workspaces"],
  provisionOrganization: ["workspaces"],
  setOrganizationSettings: ["workspaces", "testing"],
  getPrincipalName: ["workspaces", "state"],
  createUser: operators,
  getUserByName: operators,
  createTeam: operators,
  addTeamMember: operators,
  removeTeamMember: operators,
  createTeamProject: operators,
  createTeamWorkspace: operators,
  createUserToken: operators,
  createRunToken: runners,
  renewRunToken: runners,
  deleteRunToken: runners,
};
const notForUsers = new Set([
  "authenticate",
  "getGrants",
  "batchCheckActions",
  "provisionOrganization",
  "setOrganizationSettings",
  "getPrincipalName",
  "getUserByName",
  "addTeamMember",
  "removeTeamMember",
  "createRunToken",
  "renewRunToken",
  "deleteRunToken",
]);
const mayCall = (name: string, caller: string): boolean =>
  caller === "user" ? !notForUsers.has(name) : (services[name]?.includes(caller) ?? false);

const callers = [
  "user",
  "gateway",
  "workspaces",
  "state",
  "standalone",
  "testing",
  "runner",
  "runner-eu",
] as const;

describe.each(Object.keys(methods))("%s", (name) => {
  test.each(callers)("by %s", async (caller) => {
    const as = caller === "user" ? access.as(secret) : access.identities[caller];
    const kind = await (methods[name]?.(as) ?? Promise.reject(new Error(name))).then(
      () => "ok",
      (error: unknown) =>
        error instanceof Error && "reason" in error ? String(error.reason) : String(error),
    );
    if (mayCall(name, caller)) expect(kind).not.toBe("caller_not_declared");
    else expect(kind).toBe("caller_not_declared");
  });
});
