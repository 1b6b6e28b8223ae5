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
  createTeamProject: (as) => access.teamProjects.createTeamProject({}, as),
  createUserToken: (as) => access.userTokens.createUserToken({ userId: id }, as),
  listUserTokens: (as) => access.userTokens.listUserTokens({ userId: id }, as),
  getUserToken: (as) => access.userTokens.getUserToken({}, as),
  createRunToken: (as) => access.runTokens.createRunToken({}, as),
  renewRunToken: (as) => access.runTokens.renewRunToken({}, as),
  deleteRunToken: (as) => access.runTokens.deleteRunToken({}, as),
  deleteUserToken: (as) => access.userTokens.deleteUserToken({}, as),
};

/** Any service of such a name. */
const runners = ["runner", "runner-eu"];
const operators = ["standalone", "testing"];

/** Who may call what; everybody else is refused before the method runs. */
const allowed: Record<keyof typeof methods, readonly string[]> = {
  authenticate: ["gateway", "state"],
  getGrants: ["workspaces", "state"],
  provisionOrganization: ["workspaces"],
  getPrincipalName: ["workspaces"],
  createUser: operators,
  getUserByName: operators,
  getCurrentUser: ["user"],
  batchGetUsers: ["user"],
  createTeam: operators,
  addTeamMember: operators,
  removeTeamMember: operators,
  batchGetTeams: ["user"],
  createTeamProject: operators,
  createUserToken: ["user", ...operators],
  listUserTokens: ["user"],
  getUserToken: ["user"],
  createRunToken: runners,
  renewRunToken: runners,
  deleteRunToken: runners,
  deleteUserToken: ["user"],
};

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
    if (allowed[name]?.includes(caller)) expect(kind).not.toBe("caller_not_declared");
    else expect(kind).toBe("caller_not_declared");
  });
});
