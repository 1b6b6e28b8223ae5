import { newRow } from "@statehouse/postgres/new-row";
import { expect, test } from "vitest";
import { problemsOf } from "../test/problems-of.ts";
import {
  applyTeamSettings,
  Team,
  type TeamSettings,
  type TeamViewer,
  teamIsVisible,
  visibilityOf,
} from "./domain.ts";

const newTeam = (owners = false): Team =>
  newRow(Team, {
    id: "team-a",
    organizationId: "org-a",
    name: "before",
    visibility: "secret",
    organizationAccess: ["read-projects"],
    owners,
    description: null,
    ssoTeamId: null,
    allowMemberTokenManagement: true,
    createdAt: new Date(0),
  });

const problemsWith = (team: Team, settings: TeamSettings) =>
  problemsOf((problems) => applyTeamSettings(team, settings, problems));

const unchanged: TeamSettings = {
  name: undefined,
  visibility: undefined,
  organizationAccess: {},
  description: undefined,
  ssoTeamId: undefined,
  allowMemberTokenManagement: undefined,
};

test.each(["a", "Ops_team-1", "x".repeat(90)])("%s is a valid team name", (name) => {
  expect(problemsWith(newTeam(), { ...unchanged, name })).toEqual([]);
});

test.each(["", " a", "a ", "a+b", "ä", "a\0", "x".repeat(91)])(
  "%j is not a valid team name",
  (name) => {
    expect(problemsWith(newTeam(), { ...unchanged, name })).toMatchObject([{ field: "name" }]);
  },
);

test("each unknown permission and each value that is not a boolean is reported", () => {
  const organizationAccess = { "read-projects": false, fly: true, "manage-teams": "yes" };
  const problems = problemsWith(newTeam(), { ...unchanged, organizationAccess });
  expect(problems.map(({ detail }) => detail)).toEqual([
    "Organization access 'fly' is unknown",
    "Manage teams must be true or false",
  ]);
});

test("absent settings keep their value", () => {
  const team = newTeam();
  problemsWith(team, { ...unchanged, organizationAccess: { "manage-teams": true } });
  expect(team).toEqual({ ...newTeam(), organizationAccess: ["manage-teams", "read-projects"] });
  problemsWith(team, {
    name: "after",
    visibility: "organization",
    organizationAccess: { "read-projects": false },
    description: "Networks",
    ssoTeamId: "group-1",
    allowMemberTokenManagement: false,
  });
  expect(team).toMatchObject({
    name: "after",
    visibility: "organization",
    organizationAccess: ["manage-teams"],
    ssoTeamId: "group-1",
    allowMemberTokenManagement: false,
  });
  problemsWith(team, { ...unchanged, ssoTeamId: "" });
  expect(team.ssoTeamId).toBeNull();
});

test("the owners team cannot be renamed", () => {
  expect(() => problemsWith(newTeam(true), { ...unchanged, name: "others" })).toThrow(
    expect.objectContaining({ kind: "conflict", reason: "owners_team" }),
  );
  expect(problemsWith(newTeam(true), { ...unchanged, name: "before" })).toEqual([]);
});

test.each([
  ["", "secret"],
  ["secret", "secret"],
  ["organization", "organization"],
  ["public", undefined],
])("visibility %j means %s", (name, visibility) => {
  expect(visibilityOf(name)).toBe(visibility);
});

const owner: TeamViewer = { owner: true, teamIds: [] };
const inside: TeamViewer = { owner: false, teamIds: ["team-a"] };
const outside: TeamViewer = { owner: false, teamIds: ["team-b"] };
const allSeeing: TeamViewer = { owner: false, teamIds: [], seesSecretTeams: true };

test.each([
  ["an owner", owner, "secret", true],
  ["an owner", owner, "organization", true],
  ["its member", inside, "secret", true],
  ["its member", inside, "organization", true],
  ["a caller who sees secret teams", allSeeing, "secret", true],
  ["a member of another team", outside, "secret", false],
  ["a member of another team", outside, "organization", true],
] as const)("%s, %o, sees a team that is %s: %s", (_, membership, visibility, sees) => {
  expect(teamIsVisible({ id: "team-a", visibility }, membership)).toBe(sees);
});
