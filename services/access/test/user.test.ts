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

  test("is found by its name in any case; unknown names are not found", async () => {
    const { id } = await access.person("Linus");
    expect((await access.users.getUserByName({ username: "lINUS" })).user?.id).toBe(id);
    for (const username of ["", "\0", "nobody-of-this-name"]) {
      await expect(access.users.getUserByName({ username })).rejects.toMatchObject({
        kind: "notFound",
      });
    }
  });

  test("needs a name and an address that are free in any case; all problems are reported", async () => {
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
    const [a, b, stranger] = [await access.person(), await access.person(), await access.person()];
    const { ownersTeamId } = await access.organizations.provisionOrganization({
      organizationId: "org-seeing",
      creatorUserId: a.id,
    });
    await access.organizations.provisionOrganization({
      organizationId: "org-strange",
      creatorUserId: stranger.id,
    });
    const { team } = await access.teams.createTeam({
      organizationId: "org-seeing",
      settings: { name: "b" },
    });
    await access.teams.addTeamMember({ teamId: team?.id ?? "", userId: b.id });
    expect(team?.id).not.toBe(ownersTeamId);
    const ids = [a.id, b.id, stranger.id, a.id, "nonsense", "user-\0", "user-ABCDEFGHabcdefgh"];
    const seen = async (secret: string) => {
      const { users } = await access.users.batchGetUsers({ ids }, access.as(secret));
      return users.map(({ id }) => id).toSorted();
    };
    expect(await seen(a.secret)).toEqual([a.id, b.id].toSorted());
    expect(await seen(b.secret)).toEqual([a.id, b.id].toSorted());
    expect(await seen(stranger.secret)).toEqual([stranger.id]);
  });
});
