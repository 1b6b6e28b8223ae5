import type { Route } from "@statehouse/gateway/http/route";
import { routes } from "@statehouse/gateway/routes";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, describe, expect, test } from "vitest";
import { idPositions, withId } from "../golden/id-positions.ts";
import { type ApiUser, newUser, recordedApi, useFixture } from "./fixture.ts";
import { bodyFor, createObjects, type ObjectIds, parametersOf, pathWith } from "./object-ids.ts";
import {
  expectAlike,
  kinds,
  type Probe,
  parameters,
  parametersRead,
  parametersToProbe,
  unacceptable,
} from "./probe.ts";

// The response for an object of another tenant must equal that for an unknown object, in status and text. Every call is
// therefore made twice, once with an id of another organization and once with an unused id.

const fixture = useFixture();

let ours: ObjectIds;
let theirs: ObjectIds;
beforeAll(async () => {
  const { owner, organization, outsider, stack } = fixture();
  ours = await createObjects({ organization, owner });
  theirs = await createObjects({ organization: outsider.organization, owner: outsider });
  const { reports: runner } = await stack.runnerCalls("runner");
  ours.runId = await runner.run({ workspaceId: ours.workspaceId ?? "" });
  await waitFor(async () => {
    const { body } = await owner.api.get(`/workspaces/${ours.workspaceId}`);
    return body.data.relationships["current-run"].data?.id === ours.runId;
  });
  // The caller locks its own workspace, because the run that a state names is checked only if the caller holds the
  // lock.
  await outsider.api.post(`/workspaces/${theirs.workspaceId}/actions/lock`);
});

const example = (objects: ObjectIds, name: string): string => {
  const value = objects[name];
  if (!value)
    throw new Error(`an unknown kind of object: add an example for ${name} to createObjects`);
  return value;
};

/** Returns the ids and names of `ours`, which responses must not contain unless the request contained them. */
const secrets = () =>
  Object.entries(ours)
    .filter(([name]) => name !== "downloadUrl")
    .map(([, value]) => value);

const compare = (probe: Probe): Promise<void> => expectAlike(probe, secrets());

/** Makes the calls one after the other. The order must not affect the responses. */
async function compareAll(probes: readonly Probe[]): Promise<void> {
  expect(probes.length).toBeGreaterThan(0);
  for (const probe of probes) await compare(probe);
}

/** Returns a call for every combination of foreign and own ids in the path that contains a foreign id. */
function pathProbes(
  user: ApiUser,
  own: ObjectIds,
  route: Route,
  body: () => unknown,
  query = "",
): Probe[] {
  const names = parametersOf(route);
  return Array.from({ length: 2 ** names.length - 1 }, (_, index) => {
    const chosen = names.filter((_, place) => (index + 1) & (1 << place));
    return {
      what: `${route.method} ${route.path}${query} with ${chosen.join(", ")} of others`,
      foreign: chosen.map((name) => example(ours, name)),
      call: (values) => {
        const objects = { ...own };
        for (const [place, name] of chosen.entries()) objects[name] = values[place] ?? "";
        return user.api.send(
          route.method,
          `${fixture().url}${pathWith(route, objects)}${query}`,
          body(),
        );
      },
    };
  });
}

/** The image for an id is computed from the id alone. It differs for each id and reveals nothing about the object. */
const isImage = ({ path }: Route) => path.startsWith("/avatars/");
const addressed = routes.filter((route) => parametersOf(route).length > 0 && !isImage(route));
const isAdministrative = ({ path }: Route) => path.startsWith("/api/v2/admin/");

describe("an id of another organization is treated like an unknown id", () => {
  test("in a path, with any body", async () => {
    proves(
      "Team project errors/show: 404 not found",
      "Team project errors/update: 404 not found",
      "Team project errors/remove: 404 not found",
      "Authentication/11 unauthorized is 404, not 403",
      "Isolation/ids of another organization in paths, bodies, queries",
    );
    const { outsider } = fixture();
    for (const route of addressed) {
      await compareAll(pathProbes(outsider, theirs, route, () => bodyFor(route, theirs)));
      if (!route.body) continue;
      await compareAll(
        pathProbes(outsider, theirs, route, () => unacceptable(bodyFor(route, theirs))),
      );
      await compareAll(pathProbes(outsider, theirs, route, () => ({})));
    }
  });

  test("in a path, with every include of the route", async () => {
    proves("Isolation/ids of another organization in paths, bodies, queries");
    const { outsider } = fixture();
    for (const route of addressed.filter(({ includes }) => includes.length > 0)) {
      const query = `?include=${route.includes.join()}`;
      await compareAll(pathProbes(outsider, theirs, route, () => bodyFor(route, theirs), query));
    }
  });

  test("in a body, in each member that takes an id", async () => {
    proves(
      "Team project errors/add: 404 project or",
      "Isolation/ids of another organization in paths, bodies, queries",
    );
    const { outsider, url } = fixture();
    for (const route of routes.filter((route) => !isAdministrative(route))) {
      for (const position of idPositions(route)) {
        const names = kinds[position.kind];
        const place = `${route.method} ${route.path}: ${position.path.join("/")}`;
        if (!names) throw new Error(`${place}: add an example for ${position.kind} to kinds`);
        for (const name of names) {
          await compare({
            what: `${place} with ${name} of others`,
            foreign: [example(ours, name)],
            call: ([id = ""]) =>
              outsider.api.send(
                route.method,
                url + pathWith(route, theirs),
                withId(bodyFor(route, theirs), position, id),
              ),
          });
        }
      }
    }
  });

  test("in a query, in each parameter of every list", async () => {
    proves(
      "Team project errors/list: 404 project not",
      "Isolation/ids of another organization in paths, bodies, queries",
    );
    const { outsider, url } = fixture();
    const lists = routes.filter(
      ({ method, path }) => method === "GET" && !path.includes("changelog"),
    );
    for (const route of lists) {
      for (const [parameter, names] of parametersToProbe(route)) {
        for (const name of names) {
          // The parameters that this list requires in addition.
          const beside = /state-versions$/.test(route.path)
            ? `&filter[organization][name]=${theirs.organizationName}&filter[workspace][name]=${theirs.name}`
            : "";
          await compare({
            what: `${route.path}?${parameter}= with ${name} of others`,
            foreign: [example(ours, name)],
            call: ([value = ""]) =>
              outsider.api.get(
                `${url}${pathWith(route, theirs)}?${parameter}=${encodeURIComponent(value)}${beside}`,
              ),
          });
        }
      }
    }
  });
});

test("the query parameters of this test are all that the routes read", () => {
  const read = routes
    .flatMap(parametersRead)
    // Leaves out the page parameters, which the tests of lists cover, and all tag filters except the first, because the
    // same code reads all of them.
    .filter((name) => !/^(page\[|filter\[tagged\]\[[1-9])/.test(name));
  expect(read.length).toBeGreaterThan(0);
  expect(read.filter((name) => !Object.hasOwn(parameters, name))).toEqual([]);
});

describe("the same holds for", () => {
  test("administrators of the installation, who have no rights in organizations", async () => {
    proves("Isolation/administrators have no rights in organizations");
    const administrator = await newUser(fixture().stack, { administrator: true });
    for (const route of addressed.filter((route) => !isAdministrative(route))) {
      await compareAll(pathProbes(administrator, theirs, route, () => bodyFor(route, theirs)));
    }
  });

  test("tokens of another organization and of its owners team", async () => {
    proves("Isolation/tokens of another organization");
    const { outsider, url } = fixture();
    const teams = await outsider.api.get(`/organizations/${outsider.organization}/teams?q=owners`);
    const made = [
      await outsider.api.post(
        `/organizations/${outsider.organization}/authentication-token`,
        bodyFor(
          routeAt("POST", "/api/v2/organizations/:organizationName/authentication-token"),
          theirs,
        ),
      ),
      await outsider.api.post(
        `/teams/${teams.body.data[0].id}/authentication-token`,
        bodyFor(routeAt("POST", "/api/v2/teams/:teamId/authentication-token"), theirs),
      ),
    ];
    for (const { body } of made) {
      const { token } = body.data.attributes;
      const user = { ...outsider, token, api: recordedApi(url, token) };
      for (const route of addressed) {
        // The call may succeed or fail, because its effect on the caller's own objects does not matter. The foreign
        // object must still exist afterwards.
        const names = parametersOf(route);
        const all = pathProbes(user, theirs, route, () => bodyFor(route, theirs)).at(-1);
        if (names.length > 0 && all) await compare(all);
      }
    }
  });

  test("members of the same organization whose teams have no access", async () => {
    proves("Authentication/11 unauthorized is 404, not 403");
    const { reader } = fixture();
    const shared = new Set([
      "organizationName",
      "agentPoolId",
      "reservedTagKeyId",
      "sshKeyId",
      "tagId",
    ]);
    const visible = new Set(["teamId", "membershipId", "userId", "id", ...shared]);
    for (const route of addressed) {
      const names = parametersOf(route);
      const hidden = names.filter((name) => !visible.has(name));
      if (hidden.length === 0) continue;
      await compare({
        what: `${route.method} ${route.path} by a reader of another project`,
        foreign: hidden.map((name) => example(ours, name)),
        call: (values) => {
          const objects = { ...ours };
          for (const [place, name] of hidden.entries()) objects[name] = values[place] ?? "";
          const target = fixture().url + pathWith(route, objects);
          return reader.api.send(route.method, target, bodyFor(route, ours));
        },
      });
    }
  });
});

function routeAt(method: string, at: string): Route {
  const found = routes.find((route) => route.method === method && route.path === at);
  if (!found) throw new Error(`no route ${method} ${at}`);
  return found;
}
