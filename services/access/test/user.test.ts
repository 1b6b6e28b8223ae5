import { waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAccess, runAccess } from "./running-access.ts";

let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

const fieldsOf = async (work: Promise<unknown>): Promise<string[]> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ kind: "invalid" });
  return error instanceof Error && "fields" in error && Array.isArray(error.fields)
    ? error.fields.map(({ detail }) => String(detail))
    : [];
};

describe("a new user", () => {
  test("is returned as the current user of its token", async () => {
    const { id, username, secret } = await access.person("Grace");
    const { user } = await access.users.getCurrentUser({}, access.as(secret));
    expect(user).toMatchObject({ id, username, email: "Grace@example.com", administrator: false });
  });

  test("is found by its name, ignoring case; unknown names are not found", async () => {
    const { id } = await access.person("Linus");
    expect((await access.users.getUserByName({ username: "lINUS" })).user?.id).toBe(id);
    for (const username of ["", "\0", "nobody-of-this-name"]) {
      await expect(access.users.getUserByName({ username })).rejects.toMatchObject({
        kind: "notFound",
      });
    }
  });

  test("needs a name and an e-mail address that no other user has, ignoring case; all problems are reported", async () => {
    await access.users.createUser({ username: "taken", email: "taken@example.com" });
    const create = (username: string, email: string) =>
      fieldsOf(access.users.createUser({ username, email }));
    expect(await create("TAKEN", "Taken@Example.com")).toEqual([
      "Username has already been taken",
      "Email has already been taken",
    ]);
    expect(await create("a/b", "taken@example.com")).toEqual([
      "Username is invalid",
      "Email has already been taken",
    ]);
    expect(await create("\0", "\0@x")).toEqual(["Username is invalid", "Email is invalid"]);
    expect(await create("x".repeat(10_000), "")).toEqual([
      "Username is invalid",
      "Email is invalid",
    ]);
  });

  test.each(["username", "email"] as const)(
    "is created once by ten concurrent requests with the same %s; the others are invalid",
    async (field) => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) => {
          const distinct = {
            username: `${field}-${index}`,
            email: `${field}-${index}@example.com`,
          };
          const same = field === "username" ? "Same-Name" : "same@example.com";
          return access.users.createUser({ ...distinct, [field]: same });
        }),
      );
      const refused = outcomes.filter(({ status }) => status === "rejected");
      expect(refused).toHaveLength(9);
      for (const { reason } of refused as PromiseRejectedResult[]) {
        expect(reason).toMatchObject({ kind: "invalid", fields: [{ field }] });
      }
    },
  );
});

describe("a caller sees", () => {
  test("itself and the users who share an organization with it", async () => {
    const [a, b, outsider] = [await access.person(), await access.person(), await access.person()];
    const { ownersTeamId } = await access.organizations.provisionOrganization({
      organizationId: "org-seeing",
      creatorUserId: a.id,
    });
    await access.organizations.provisionOrganization({
      organizationId: "org-strange",
      creatorUserId: outsider.id,
    });
    const { team } = await access.teams.createTeam({
      organizationId: "org-seeing",
      settings: { name: "b" },
    });
    await access.teams.addTeamMember({ teamId: team?.id ?? "", userId: b.id });
    expect(team?.id).not.toBe(ownersTeamId);
    const ids = [a.id, b.id, outsider.id, a.id, "nonsense", "user-\0", "user-ABCDEFGHabcdefgh"];
    const seen = async (secret: string) => {
      const { users } = await access.users.batchGetUsers({ ids }, access.as(secret));
      return users.map(({ id }) => id).toSorted();
    };
    expect(await seen(a.secret)).toEqual([a.id, b.id].toSorted());
    expect(await seen(b.secret)).toEqual([a.id, b.id].toSorted());
    expect(await seen(outsider.secret)).toEqual([outsider.id]);
  });
});

describe("while a user is deleted", () => {
  /** Begins a transaction, executes `statement` in it and keeps its locks until `commit` is called. */
  const transactionThat = async (statement: string, values: unknown[] = []) => {
    const client = new Client({ connectionString: access.environment.DATABASE_URL });
    await client.connect();
    await client.query("begin");
    await client.query(statement, values);
    return {
      isWaitedFor: () =>
        waitFor(async () => {
          const { rowCount } = await client.query(
            "select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))",
          );
          return rowCount;
        }),
      async commit(last?: string, values: unknown[] = []) {
        if (last !== undefined) await client.query(last, values);
        await client.query("commit");
        await client.end();
      },
    };
  };

  test("a new token of the user is refused as not found", async () => {
    const { id } = await access.person();
    const deletion = await transactionThat("select from users where id = $1 for update", [id]);
    const created = access.tokens.createUserToken({ userId: id });
    const refused = expect(created).rejects.toMatchObject({ kind: "notFound" });
    await deletion.isWaitedFor();
    await deletion.commit(
      "with gone as (delete from tokens where user_id = $1) delete from users where id = $1",
      [id],
    );
    await refused;
  });

  test("a new membership of the user makes the deletion unavailable; a repeated deletion completes it", async () => {
    const owner = await access.person();
    const { id, username } = await access.person();
    const organizationId = "org-inviting";
    await access.organizations.provisionOrganization({ organizationId, creatorUserId: owner.id });
    const { user: administrator } = await access.users.createUser({
      username: "chief",
      email: "chief@example.com",
      administrator: true,
    });
    const { secret } = await access.tokens.createUserToken({ userId: administrator?.id ?? "" });
    const remove = () => access.users.deleteUser({ id }, access.as(secret));
    const administrators = await transactionThat(
      "select from users where administrator for update",
    );
    const refused = expect(remove()).rejects.toMatchObject({
      kind: "unavailable",
      reason: "user_invited",
    });
    await administrators.isWaitedFor();
    const invitation = { organizationId, email: `${username}@example.com` };
    await access.memberships.createOrganizationMembership(invitation, access.as(owner.secret));
    await administrators.commit();
    await refused;
    await remove();
    const { users } = await access.users.batchGetUsers({ ids: [id] }, access.as(owner.secret));
    expect(users).toEqual([]);
  });
});
