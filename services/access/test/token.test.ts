import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hashOf } from "../token/secret-domain.ts";
import { type RunningAccess, runAccess } from "./running-access.ts";

let access: RunningAccess;
beforeAll(async () => {
  access = await runAccess();
});
afterAll(() => access[Symbol.asyncDispose]());

const unauthenticated = { kind: "unauthenticated" };

describe("a user token", () => {
  test("shows its secret once, stores only a hash, and authenticates its user", async () => {
    proves("Teams and users/tokens: shown once, kept");
    const { user } = await access.users.createUser({ username: "ada", email: "ada@example.com" });
    const userId = user?.id ?? "";
    const { token: userToken, secret } = await access.tokens.createUserToken({
      userId,
      description: "laptop",
    });
    expect(secret).toMatch(/^sth_[\w-]{43}$/);
    expect(userToken).toMatchObject({ userId, description: "laptop", createdById: "" });
    const [row] = await access.sql<{ row: string }>(
      "select to_json(t)::text as row from tokens t where id = $1",
      [userToken?.id],
    );
    expect(row?.row).toContain(hashOf(secret));
    expect(row?.row).not.toContain(secret);

    const { principal } = await access.authentication.authenticate({ token: secret });
    expect(principal).toMatchObject({ type: "user", id: userId, tokenId: userToken?.id });
    expect(principal?.versions).toMatch(/^u:\d+$/);
  });

  test("is authenticated in a batch; refused tokens are omitted", async () => {
    const [ada, ben, gone] = [await access.person(), await access.person(), await access.person()];
    await access.sql(
      "update tokens set expired_at = now() - interval '1 second' where user_id = $1",
      [gone.id],
    );
    const tokens = [ada.secret, "nonsense", gone.secret, ben.secret, `sth_run_${"a".repeat(43)}`];
    const { found } = await access.authentication.batchAuthenticate({ tokens });
    const alone = async (token: string) =>
      (await access.authentication.authenticate({ token })).principal;
    expect(found.map(({ position, principal }) => [position, principal])).toEqual([
      [0, await alone(ada.secret)],
      [3, await alone(ben.secret)],
    ]);
  });

  test("of a suspended user is refused, and the user has no grants", async () => {
    const { id, secret } = await access.person();
    const organizationId = "org-suspended";
    await access.organizations.provisionOrganization({ organizationId, creatorUserId: id });
    await access.sql("update users set suspended = true, administrator = true where id = $1", [id]);
    await expect(access.versionsOf(secret)).rejects.toMatchObject(unauthenticated);
    const { grants } = await access.grants.getGrants({ principalType: "user", principalId: id });
    expect(grants).toMatchObject({ administrator: false, organizations: [] });
  });

  test.each(["", "x", "sth_short", `sth_${"A".repeat(43)}`, "\0", `sth_${"é".repeat(43)}`])(
    "%j is not a valid token",
    async (token) => {
      await expect(access.versionsOf(token)).rejects.toMatchObject(unauthenticated);
    },
  );
});

test.each([253_402_300_800n, 9_000_000_000_000_000n])(
  "a token with an expiry that no timestamp can represent (%s s) is refused",
  async (seconds) => {
    const { id } = await access.person();
    await expect(
      access.tokens.createUserToken({ userId: id, expiredAt: { seconds, nanos: 0 } }),
    ).rejects.toMatchObject({ kind: "invalid" });
  },
);

test("is listed in pages, oldest first, with a correct total past the end", async () => {
  const { id, secret } = await access.person();
  for (const description of ["b", "c", "d", "e"]) {
    await access.tokens.createUserToken({ userId: id, description });
  }
  // Gives the tokens different creation times, because two of them can be created in the same millisecond.
  await access.sql(
    `update tokens set created_at = created_at + ascii(description) * interval '1 s'
     where user_id = $1 and description <> ''`,
    [id],
  );
  const list = async (pageNumber: number, pageSize: number) => {
    const request = { userId: id, pageNumber, pageSize };
    const { tokens: userTokens, totalCount } = await access.tokens.listUserTokens(
      request,
      access.as(secret),
    );
    return [userTokens.map(({ description }) => description).join(""), totalCount];
  };
  expect(await list(1, 2)).toEqual(["b", 5]);
  expect(await list(2, 2)).toEqual(["cd", 5]);
  expect(await list(3, 2)).toEqual(["e", 5]);
  expect(await list(4, 2)).toEqual(["", 5]);
});
