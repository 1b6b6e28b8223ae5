import type { Route } from "@statehouse/gateway/http/route";
import { routes } from "@statehouse/gateway/routes";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document, download } from "../stack/http.ts";
import { organizationId, unusedName } from "../stack/organization.ts";
import { announcement, processedVersion, stateFile } from "../stack/state.ts";
import { type ApiUser, errorDetails, newProject, newTeam, newUser, useFixture } from "./fixture.ts";
import {
  bodyFor,
  createObjects,
  type ObjectIds,
  parametersOf,
  pathWith,
  queryFor,
} from "./object-ids.ts";

const fixture = useFixture();

const call = (route: Route, user: ApiUser, objects: ObjectIds) =>
  user.api.send(
    route.method,
    fixture().url + pathWith(route, objects) + queryFor(route, objects),
    bodyFor(route, objects),
  );

/** Returns all objects of a set as text, as their owner reads them. */
const survey = async (objects: ObjectIds, owner: ApiUser) =>
  JSON.stringify(
    await Promise.all(
      [
        `/workspaces/${objects.workspaceId}`,
        `/workspaces/${objects.workspaceId}/tag-bindings`,
        `/workspaces/${objects.workspaceId}/current-state-version-outputs`,
        `/projects/${objects.projectId}`,
        `/teams/${objects.teamId}`,
        `/team-projects/${objects.teamProjectId}`,
        `/team-workspaces/${objects.teamWorkspaceId}`,
        `/organizations/${objects.organizationName}/projects`,
        `/users/${owner.id}/authentication-tokens?page[size]=1`,
      ].map(async (path) => {
        const { status, body } = await owner.api.get(path);
        return [status, body.data];
      }),
    ),
  ).replaceAll(/"last-used-at":("[^"]*"|null)/g, "");

/**
 * The routes with ids in their paths that require credentials. Routes without credentials return the same to every
 * caller.
 */
const addressed = routes.filter(
  (route) => parametersOf(route).length > 0 && route.credentials !== "none",
);

test("a user without access gets 404 on every route with a foreign id in any position, and changes nothing", async () => {
  const { owner, organization, outsider } = fixture();
  const ours = await createObjects({ organization, owner });
  const theirs = await createObjects({ organization: outsider.organization, owner: outsider });
  const before = await survey(ours, owner);
  for (const route of addressed) {
    const names = parametersOf(route);
    // Tries every combination of foreign and own ids that contains a foreign id.
    for (let mix = 1; mix < 2 ** names.length; mix++) {
      const foreign = names.filter((_, index) => mix & (1 << index));
      const objects = {
        ...theirs,
        ...Object.fromEntries(foreign.map((name) => [name, ours[name] ?? ""])),
      };
      const answer = await call(route, outsider, objects);
      const what = `${route.method} ${route.path} with foreign ${foreign.join(", ")}`;
      expect(answer.status, what).toBe(404);
      errorDetails(answer);
      expect(JSON.stringify(answer.body), what).not.toContain(organization);
    }
  }
  expect(await survey(ours, owner)).toBe(before);
});

test("a user without access gets 404 for a foreign download URL and for the states of a foreign workspace", async () => {
  const { owner, organization, outsider } = fixture();
  const ours = await createObjects({ organization, owner });
  expect((await download(ours.downloadUrl ?? "", outsider.token)).status).toBe(404);
  const list = `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${ours.name}`;
  expect((await outsider.api.get(list)).status).toBe(404);
});

test("a foreign id in a body is treated like an unknown id", async () => {
  const { owner, organization, outsider } = fixture();
  const ours = await createObjects({ organization, owner });
  const theirs = await createObjects({ organization: outsider.organization, owner: outsider });
  await owner.api.post(`/workspaces/${ours.workspaceId}/relationships/tags`, {
    data: [{ type: "tags", attributes: { name: "ours" } }],
  });
  const tags = await owner.api.get(`/workspaces/${ours.workspaceId}/relationships/tags`);
  const project = { project: { data: { type: "projects", id: ours.projectId } } };
  const answers = [
    await outsider.api.post(
      `/organizations/${outsider.organization}/workspaces`,
      document("workspaces", { name: unusedName("thief") }, project),
    ),
    await outsider.api.patch(
      `/workspaces/${theirs.workspaceId}`,
      document("workspaces", {}, project),
    ),
    await outsider.api.post(`/workspaces/${theirs.workspaceId}/relationships/tags`, {
      data: [{ type: "tags", id: tags.body.data[0].id }],
    }),
  ];
  for (const { status } of answers) expect([404, 422]).toContain(status);
  const listed = await outsider.api.get(
    `/organizations/${outsider.organization}/workspaces?filter[project][id]=${ours.projectId}`,
  );
  expect(listed.body.data).toEqual([]);
});

test("includes and lists contain nothing of a foreign organization", async () => {
  const { outsider, organization, owner } = fixture();
  await createObjects({ organization, owner });
  await createObjects({ organization: outsider.organization, owner: outsider });
  const listed = await outsider.api.get("/organizations");
  expect(listed.body.data).toHaveLength(1);
  const included = await outsider.api.get(
    `/organizations/${outsider.organization}/workspaces?include=organization,project,outputs,locked_by`,
  );
  expect(included.status).toBe(200);
  expect(JSON.stringify(included.body)).not.toContain(organization);
});

describe("a reader", () => {
  /** Returns whether every user may call the route, because it concerns only the calling user. */
  const own = (route: Route) => /authentication-tokens|account/.test(route.path);
  /** Returns whether only administrators may call the route. */
  const administrative = (route: Route) => route.path.startsWith("/api/v2/admin/");
  /** Objects of the organization itself, which every member may read. */
  const shared = [
    "organizationName",
    "agentPoolId",
    "reservedTagKeyId",
    "sshKeyId",
    "tagId",
    "teamId",
    "membershipId",
    "userId",
    "id",
  ];
  /**
   * Returns whether the route concerns one of these: grants of a team to which the reader does not belong, tokens, the
   * owners' rules for tokens, the acceptance of an invitation, or effective permissions.
   */
  const confidential = (route: Route) =>
    /authentication-token$|token-ttl-policies$|team-(projects|workspaces)\/|actions\/accept|effective-permissions$/.test(
      route.path,
    );

  test("may read everything in the project and change nothing", async () => {
    proves("Authentication/1 viewing workspaces");
    const { owner, organization, readable, reader } = fixture();
    const objects = await createObjects({ organization, owner }, readable.id);
    await processedVersion(owner.api, objects.stateVersionId ?? "");
    const before = await survey(objects, owner);
    for (const route of addressed.filter((route) => !own(route) && !administrative(route))) {
      const { status } = await call(route, reader, objects);
      const what = `${route.method} ${route.path}`;
      if (route.method === "GET") expect(status, what).toBe(confidential(route) ? 404 : 200);
      else expect(status, what).toBe(route.failures.includes(403) ? 403 : 404);
    }
    expect((await download(objects.downloadUrl ?? "", reader.token)).status).toBe(200);
    expect(await survey(objects, owner)).toBe(before);
  });

  test("gets 404 for everything in another project of the same organization", async () => {
    const { owner, organization, reader } = fixture();
    const objects = await createObjects({ organization, owner });
    const before = await survey(objects, owner);
    const deep = addressed.filter((route) =>
      parametersOf(route).some((name) => !shared.includes(name)),
    );
    for (const route of deep) {
      const { status } = await call(route, reader, objects);
      expect(status, `${route.method} ${route.path}`).toBe(404);
    }
    expect((await download(objects.downloadUrl ?? "", reader.token)).status).toBe(404);
    expect(await survey(objects, owner)).toBe(before);
  });
});

describe("a revoked right", () => {
  async function newWriter(): Promise<{ writer: ApiUser; teamId: string; projectId: string }> {
    const { id: teamId, member: writer } = await newTeam(fixture());
    const { id: projectId } = await newProject(fixture());
    await fixture().stack.people.grant({ teamId, projectId, access: "write" });
    return { writer, teamId, projectId };
  }

  test("ends with the next request: documents, lists, lock, state and download", async () => {
    proves("Reading/the right to read");
    const { owner, organization, stack } = fixture();
    const { writer, teamId, projectId } = await newWriter();
    const objects = await createObjects({ organization, owner }, projectId);
    const { workspaceId: id } = objects;
    expect((await writer.api.post(`/workspaces/${id}/actions/lock`)).status).toBe(200);
    const next = announcement(stateFile({ serial: 2 }), { force: true });
    const created = await writer.api.post(`/workspaces/${id}/state-versions`, next);
    expect(created.status).toBe(201);
    expect(created.body.data.attributes["hosted-state-upload-url"]).toMatch(/^http/);
    expect((await download(objects.downloadUrl ?? "", writer.token)).status).toBe(200);

    await stack.people.removeMember(teamId, writer);
    const answers = {
      show: await writer.api.get(`/workspaces/${id}`),
      unlock: await writer.api.post(`/workspaces/${id}/actions/unlock`),
      version: await writer.api.get(`/state-versions/${created.body.data.id}`),
      create: await writer.api.post(`/workspaces/${id}/state-versions`, next),
      outputs: await writer.api.get(`/workspaces/${id}/current-state-version-outputs`),
    };
    for (const [what, { status }] of Object.entries(answers)) expect(status, what).toBe(404);
    expect((await download(objects.downloadUrl ?? "", writer.token)).status).toBe(404);
    // The user has left the team but is still a member of the organization.
    expect((await writer.api.get("/organizations")).body.data).toHaveLength(1);
    expect((await owner.api.post(`/workspaces/${id}/actions/force-unlock`)).status).toBe(200);
  });

  test("stays revoked, regardless of requests that race with the revocation", async () => {
    const { owner, organization, stack } = fixture();
    for (let round = 0; round < 3; round++) {
      const { writer, teamId, projectId } = await newWriter();
      const { workspaceId } = await createObjects({ organization, owner }, projectId);
      const show = () => writer.api.get(`/workspaces/${workspaceId}`);
      const racing = Array.from({ length: 10 }, show);
      const removed = stack.people.removeMember(teamId, writer);
      await Promise.all([...racing, removed]);
      expect((await show()).status).toBe(404);
    }
  });

  test("is effective on the next request after it is granted again", async () => {
    const { stack, organization } = fixture();
    const { writer, projectId } = await newWriter();
    const other = await newProject(fixture());
    expect((await writer.api.get(`/projects/${projectId}`)).status).toBe(200);
    expect((await writer.api.get(`/projects/${other.id}`)).status).toBe(404);
    const team = await stack.people.newTeam({
      organizationId: await organizationId(stack, organization),
      name: unusedName("more"),
      members: [writer],
    });
    await stack.people.grant({ teamId: team.id, projectId: other.id, access: "read" });
    expect((await writer.api.get(`/projects/${other.id}`)).status).toBe(200);
  });
});

test("a moved workspace and its state belong to the new project immediately", async () => {
  proves("Reading/the right to read");
  const { stack, organization, owner } = fixture();
  const inside = await organizationId(stack, organization);
  const newReader = async (projectId: string) => {
    const user = await newUser(stack);
    const team = await stack.people.newTeam({
      organizationId: inside,
      name: unusedName("readers"),
      members: [user],
    });
    await stack.people.grant({ teamId: team.id, projectId, access: "read" });
    return user;
  };
  const target = await newProject(fixture());
  const objects = await createObjects({ organization, owner });
  const [before, after] = [await newReader(objects.projectId ?? ""), await newReader(target.id)];
  const seenBy = async ({ api, token }: ApiUser) => [
    (await api.get(`/workspaces/${objects.workspaceId}`)).status,
    (await api.get(`/workspaces/${objects.workspaceId}/current-state-version`)).status,
    (await api.get(`/state-versions/${objects.stateVersionId}`)).status,
    (await api.get(`/state-version-outputs/${objects.stateVersionOutputId}`)).status,
    (await download(objects.downloadUrl ?? "", token)).status,
  ];
  expect(await seenBy(before)).toEqual([200, 200, 200, 200, 200]);
  expect(await seenBy(after)).toEqual([404, 404, 404, 404, 404]);
  const moved = await owner.api.patch(
    `/workspaces/${objects.workspaceId}`,
    document("workspaces", {}, { project: { data: { type: "projects", id: target.id } } }),
  );
  expect(moved.status).toBe(200);
  expect(await seenBy(before)).toEqual([404, 404, 404, 404, 404]);
  expect(await seenBy(after)).toEqual([200, 200, 200, 200, 200]);
});
