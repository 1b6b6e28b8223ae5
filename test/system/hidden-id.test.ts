import { routes } from "@statehouse/gateway/routes";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, expect, test } from "vitest";
import { idPositions, withId } from "../golden/id-positions.ts";
import { document } from "../stack/http.ts";
import { expectStatus } from "../stack/state.ts";
import { type ApiUser, newTeam, useFixture } from "./fixture.ts";
import { bodyFor, createObjects, type ObjectIds, parametersOf, pathWith } from "./object-ids.ts";
import { expectAlike, kinds, parametersToProbe } from "./probe.ts";

// Within one organization, the response for an object that a user's teams cannot read must equal that for an unknown
// object.

const fixture = useFixture();

/** Objects in a project that neither `insider` nor `watcher` can read. */
let hidden: ObjectIds;
/** Objects in a project that both `insider` and `watcher` may read. */
let open: ObjectIds;
/** A user who administers the open project, agent pools and teams. */
let insider: ApiUser;
/** A user who may read the open project and its workspaces, but not their state. */
let watcher: ApiUser;
/**
 * The ids of a token of the organization and of a token of a team. Both `insider` and `watcher` may read the team, but
 * `watcher` cannot read the tokens.
 */
let tokenIds: string[];

async function newMember(access: string, organizationAccess?: readonly string[]): Promise<ApiUser> {
  const { stack, readable } = fixture();
  const { id: teamId, member } = await newTeam(fixture(), organizationAccess);
  await stack.people.grant({ teamId, projectId: readable.id, access });
  return member;
}

beforeAll(async () => {
  const { owner, organization, readable, stack } = fixture();
  hidden = await createObjects({ organization, owner });
  open = await createObjects({ organization, owner }, readable.id);
  const { reports: runner } = await stack.runnerCalls("runner");
  hidden.runId = await runner.run({ workspaceId: hidden.workspaceId ?? "" });
  await waitFor(async () => {
    const { body } = await owner.api.get(`/workspaces/${hidden.workspaceId}`);
    return body.data.relationships["current-run"].data?.id === hidden.runId;
  });
  insider = await newMember("admin", ["manage-agent-pools", "manage-teams"]);
  watcher = await newMember("custom");
  await expectStatus(200, insider.api.post(`/workspaces/${open.workspaceId}/actions/lock`));
  const none = document("authentication-tokens", {});
  const made = [
    await owner.api.post(`/teams/${open.teamId}/authentication-token`, none),
    await owner.api.post(`/organizations/${organization}/authentication-token`, none),
  ];
  tokenIds = made.map(({ body }) => body.data.id);
});

/** Objects that every member of the organization may read. */
const shared: ReadonlySet<string> = new Set([
  "agentPoolId",
  "membershipId",
  "organizationName",
  "reservedTagKeyId",
  "sshKeyId",
  "teamId",
  "teamName",
  "userId",
  "id",
  "username",
]);

const example = (objects: ObjectIds, name: string): string => {
  const value = objects[name];
  if (!value) throw new Error(`no example of ${name}`);
  return value;
};

const secrets = () =>
  Object.entries(hidden)
    .filter(([name]) => !shared.has(name) && name !== "downloadUrl")
    .map(([, value]) => value);

test("in a query, in each parameter of every list", async () => {
  proves("Isolation/what one's teams do not show of one's own organization");
  for (const route of routes.filter(({ method }) => method === "GET")) {
    const target = fixture().url + pathWith(route, open);
    const beside = /state-versions$/.test(route.path)
      ? `&filter[organization][name]=${open.organizationName}&filter[workspace][name]=${open.name}`
      : "";
    for (const [parameter, names] of parametersToProbe(route)) {
      for (const name of names.filter((name) => !shared.has(name))) {
        for (const { api } of [insider, watcher]) {
          await expectAlike(
            {
              what: `${route.path}?${parameter}= with ${name} that is hidden`,
              foreign: [example(hidden, name)],
              call: ([value = ""]) =>
                api.get(`${target}?${parameter}=${encodeURIComponent(value)}${beside}`),
            },
            secrets(),
          );
        }
      }
    }
  }
});

test("in a body, in each member that takes an id", async () => {
  proves("Isolation/what one's teams do not show of one's own organization");
  for (const route of routes.filter(({ path }) => !path.startsWith("/api/v2/admin/"))) {
    for (const position of idPositions(route)) {
      for (const name of (kinds[position.kind] ?? []).filter((name) => !shared.has(name))) {
        await expectAlike(
          {
            what: `${route.method} ${route.path}: ${position.path.join("/")} with ${name}`,
            foreign: [example(hidden, name)],
            call: ([id = ""]) =>
              insider.api.send(
                route.method,
                fixture().url + pathWith(route, open),
                withId(bodyFor(route, open), position, id),
              ),
          },
          secrets(),
        );
      }
    }
  }
});

test("in a path, including children of a readable project and workspace", async () => {
  proves("Isolation/what one's teams do not show of one's own organization");
  const inside = ["stateVersionId", "stateVersionOutputId", "teamProjectId", "teamWorkspaceId"];
  for (const route of routes) {
    for (const name of parametersOf(route).filter((name) =>
      [...inside, "tokenId"].includes(name),
    )) {
      const foreign =
        name === "tokenId" ? [...tokenIds, example(open, name)] : [example(open, name)];
      for (const value of foreign) {
        await expectAlike({
          what: `${route.method} ${route.path} of what is not shown`,
          foreign: [value],
          call: ([id = ""]) =>
            watcher.api.send(
              route.method,
              fixture().url + pathWith(route, { ...open, [name]: id }),
              bodyFor(route, open),
            ),
        });
      }
    }
  }
});

test("in the URL of a state", async () => {
  proves("Isolation/what one's teams do not show of one's own organization");
  const { stateVersionId = "", downloadUrl = "" } = open;
  expect(downloadUrl).toContain(stateVersionId);
  await expectAlike({
    what: "a download",
    foreign: [stateVersionId],
    call: ([id = ""]) => watcher.api.get(downloadUrl.replace(stateVersionId, id)),
  });
});
