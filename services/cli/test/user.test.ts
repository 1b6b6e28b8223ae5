import { type RunningAccess, runAccess } from "@statehouse/access/test/running-access";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

/** Runs the command and returns its output. If the command fails, throws an error with its standard error output. */
const run = async (args: readonly string[], env: Record<string, string> = {}) => {
  const { code, stdout, stderr } = await statehouse(args, {
    DATABASE_URL: access.environment.DATABASE_URL,
    ...env,
  });
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
};
const user = (...args: string[]) => run(["user", ...args]);

test("the configuration creates the first administrator once", async () => {
  proves("Teams and users/the first administrator comes from the configuration");
  const env = { FIRST_ADMIN_USERNAME: "root", FIRST_ADMIN_EMAIL: "root@example.com" };
  expect(await run(["migrate", "access"], env)).toContain("root administers the installation");
  expect(await run(["migrate", "access"], env)).toBe("nothing to apply");
  const { user: root } = await access.users.getUserByName({ username: "root" });
  expect(root).toMatchObject({ administrator: true, email: "root@example.com" });
  await expect(user("suspend", "root")).rejects.toThrow("at least one administrator");
});

test("the operator creates, promotes and suspends users and creates tokens without any service", async () => {
  proves("Teams and users/administrators create, suspend and");
  expect(await user("create", "ops", "ops@example.com")).toMatch(/^created user-\w{16}$/);
  const secret = await user("token", "ops");
  expect(await access.versionsOf(secret)).toMatch(/^u:/);
  await user("suspend", "ops");
  await expect(access.versionsOf(secret)).rejects.toMatchObject({ kind: "unauthenticated" });
  await user("unsuspend", "ops");
  await access.versionsOf(secret);
  await user("grant-admin", "ops");
  const state = async () => (await access.users.getUserByName({ username: "ops" })).user;
  expect(await state()).toMatchObject({ administrator: true });
  await user("revoke-admin", "ops");
  expect(await state()).toMatchObject({ administrator: false });
});

test("the operator sets an address, which receives the invitations that were sent to it", async () => {
  const email = "wanted@example.com";
  await user("create", "inviter", "inviter@example.com");
  await user("create", "invited", "invited@example.com");
  const idOf = async (username: string) => {
    const { user: found } = await access.users.getUserByName({ username });
    return found?.id ?? "";
  };
  const organizationId = "org-inviting";
  const creatorUserId = await idOf("inviter");
  await access.organizations.provisionOrganization({ organizationId, creatorUserId });
  const { organizationMembership } = await access.memberships.createOrganizationMembership(
    { organizationId, email },
    access.as(await user("token", "inviter")),
  );
  await user("set-email", "invited", email);
  const accepted = await access.memberships.acceptOrganizationMembership(
    { id: organizationMembership?.id ?? "" },
    access.as(await user("token", "invited")),
  );
  expect(accepted.organizationMembership).toMatchObject({
    userId: await idOf("invited"),
    status: "active",
    email,
  });
  await expect(user("set-email", "inviter", email)).rejects.toThrow("already been taken");
});

test("errors are one sentence", async () => {
  await expect(user("fly", "ops")).rejects.toThrow("usage:");
  await expect(user("suspend", "nobody")).rejects.toThrow("There is no user 'nobody'.");
  await expect(user("create", "bad name", "x")).rejects.toThrow("Username is invalid");
});
