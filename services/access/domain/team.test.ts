import { expect, test } from "vitest";
import { type Membership, teamIsVisible, teamProblems, visibilityOf } from "./team.ts";
import { refuseLastOwner } from "./team-member.ts";

const input = { name: "ops", visibility: "", organizationAccess: [] };

test.each(["a", "Ops_team-1", "x".repeat(90)])("%s is a team's name", (name) => {
  expect(teamProblems({ ...input, name })).toEqual([]);
});

test.each(["", "a b", "a/b", "ä", "a\0", "x".repeat(91)])("%j is no team's name", (name) => {
  expect(teamProblems({ ...input, name })).toMatchObject([{ field: "name" }]);
});

test("each unknown permission is named", () => {
  const problems = teamProblems({ ...input, organizationAccess: ["read-projects", "fly", "swim"] });
  expect(problems.map(({ detail }) => detail)).toEqual([
    "Organization access fly is unknown",
    "Organization access swim is unknown",
  ]);
});

test.each([
  ["", "secret"],
  ["secret", "secret"],
  ["organization", "organization"],
  ["public", undefined],
])("visibility %j means %s", (name, visibility) => {
  expect(visibilityOf(name)).toBe(visibility);
});

const owner: Membership = { owner: true, teamIds: [] };
const inside: Membership = { owner: false, teamIds: ["team-a"] };
const outside: Membership = { owner: false, teamIds: ["team-b"] };

test.each([
  ["an owner", owner, "secret", true],
  ["an owner", owner, "organization", true],
  ["its member", inside, "secret", true],
  ["its member", inside, "organization", true],
  ["a member of another team", outside, "secret", false],
  ["a member of another team", outside, "organization", true],
] as const)("%s, %o, sees it when it is %s: %s", (_, membership, visibility, sees) => {
  expect(teamIsVisible({ id: "team-a", visibility }, membership)).toBe(sees);
});

test("only the team owners keeps its last member", () => {
  expect(() => refuseLastOwner({ owners: true }, 1)).toThrow(/must keep at least one member/);
  expect(() => refuseLastOwner({ owners: true }, 2)).not.toThrow();
  expect(() => refuseLastOwner({ owners: false }, 1)).not.toThrow();
});
