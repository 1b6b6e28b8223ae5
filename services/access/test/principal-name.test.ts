import { expect, test } from "vitest";
import { runAccess } from "./running-access.ts";

test("returns names of users and teams by type; other ids are not found", async () => {
  await using access = await runAccess();
  const { id, username } = await access.person();
  const { ownersTeamId } = await access.organizations.provisionOrganization({
    organizationId: "org-names",
    creatorUserId: id,
  });
  const nameOf = async (type: string, of: string) =>
    (await access.principalNames.getPrincipalName({ type, id: of })).name;
  expect(await nameOf("user", id)).toBe(username);
  expect(await nameOf("team", ownersTeamId)).toBe("owners");
  for (const [type, of] of [
    ["team", id],
    ["user", ownersTeamId],
    ["run", "run-ABCDEFGHabcdefgh"],
  ] as const) {
    await expect(nameOf(type, of)).rejects.toMatchObject({ kind: "notFound" });
  }
});
