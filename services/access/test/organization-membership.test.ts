import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

const organizationId = "org-memberships";

let access: RunningAccess;
let owner: Awaited<ReturnType<RunningAccess["person"]>>;
beforeAll(async () => {
  access = await runAccess();
  owner = await access.person();
  await access.organizations.provisionOrganization({ organizationId, creatorUserId: owner.id });
});
afterAll(() => access[Symbol.asyncDispose]());

async function invite(username: string) {
  const email = `${username}@example.com`;
  const { organizationMembership } = await access.memberships.createOrganizationMembership(
    { organizationId, email },
    access.as(owner.secret),
  );
  return { ...organizationMembership, id: organizationMembership?.id ?? "" };
}

const statusesOf = (id: string) =>
  access.sql<{ status: string }>("select status from organization_memberships where id = $1", [id]);

/**
 * Deletes each membership in the commit of the transaction that inserts or updates it, as if another request had
 * deleted it at once, until the result is disposed.
 */
async function deletedOnCommit(change: "insert" | "update") {
  await access.sql(`
    create function delete_membership() returns trigger language plpgsql as $$
    begin
      delete from organization_memberships where id = new.id;
      return null;
    end $$;
    create constraint trigger deleted_on_commit after ${change} on organization_memberships
      deferrable initially deferred for each row execute function delete_membership()`);
  return {
    [Symbol.asyncDispose]: async () => {
      await access.sql("drop function delete_membership cascade");
    },
  };
}

test("an invitation is returned although another request deletes it at once", async () => {
  await using _deleted = await deletedOnCommit("insert");
  const { id, email } = await invite("invited-briefly");
  expect(email).toBe("invited-briefly@example.com");
  expect(await statusesOf(id)).toEqual([]);
});

test("an accepted invitation is returned although another request deletes it at once", async () => {
  const { username, secret } = await access.person();
  const { id } = await invite(username);
  await using _deleted = await deletedOnCommit("update");
  const accepted = await access.memberships.acceptOrganizationMembership({ id }, access.as(secret));
  expect(accepted).toMatchObject({
    organizationMembership: { id, status: "active" },
    organizationName: `name-of-${organizationId}`,
  });
  expect(await statusesOf(id)).toEqual([]);
});

test("an invitation is not accepted while the organization's name is unavailable", async () => {
  const { username, secret } = await access.person();
  const { id } = await invite(username);
  const accept = () => access.memberships.acceptOrganizationMembership({ id }, access.as(secret));
  access.refuseNameOnce(organizationId);
  await expect(accept()).rejects.toMatchObject({ kind: "unavailable" });
  expect(await statusesOf(id)).toEqual([{ status: "invited" }]);
  await accept();
  expect(await statusesOf(id)).toEqual([{ status: "active" }]);
});
