import { newId } from "@statehouse/postgres/ids";
import type { Runner } from "@statehouse/rpc/testing";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, type Api, document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { costOf } from "../stack/request-cost.ts";
import { linkedFrom, nameOf, type Resource } from "../stack/resources.ts";
import { teamRole } from "../stack/roles.ts";
import { expectStatus, stateFile, writeState } from "../stack/state.ts";
import { newActor } from "./actors.ts";
import { errorDetails, newProject, newWorkspace, useFixture } from "./fixture.ts";
import { type FullOrganization, newFullOrganization } from "./full-organization.ts";

const fixture = useFixture();

/** The types of resources that each include returns for a workspace with resources of all these types. */
const includes = {
  agent_pool: ["agent-pools"],
  current_configuration_version: ["configuration-versions"],
  "current_configuration_version.ingress_attributes": [
    "configuration-versions",
    "ingress-attributes",
  ],
  current_run: ["runs"],
  "current_run.configuration_version": ["configuration-versions", "runs"],
  "current_run.configuration_version.ingress_attributes": [
    "configuration-versions",
    "ingress-attributes",
    "runs",
  ],
  "current_run.plan": ["plans", "runs"],
  current_state_version: ["state-versions"],
  effective_tag_bindings: ["effective-tag-bindings"],
  locked_by: ["users"],
  organization: ["organizations"],
  outputs: ["workspace-outputs"],
  project: ["projects"],
  readme: ["workspace-readme"],
} as const;
const names = Object.keys(includes) as (keyof typeof includes)[];

const typesIn = ({ body }: Answer) =>
  [...new Set(body.included.map(({ type }: Resource) => type))].toSorted();

/** Returns all resources to which the document refers. */
const linked = ({ body }: Answer): Set<string> => {
  const resources: Resource[] = [body.data, ...body.included].flat();
  return new Set(resources.flatMap(linkedFrom));
};

describe("of a workspace with every relationship", () => {
  let full: FullOrganization;
  let paths: Record<"id" | "name" | "list", string>;
  beforeAll(async () => {
    full = await newFullOrganization(fixture());
    const list = `/organizations/${full.organization}/workspaces`;
    paths = {
      id: `/workspaces/${full.workspaceId}`,
      name: `${list}/${full.workspaceName}`,
      list: `${list}?search[name]=${full.workspaceName}`,
    };
  });
  const get = (way: keyof typeof paths, include: string): Promise<Answer> => {
    const path = paths[way];
    return full.owner.api.get(`${path}${path.includes("?") ? "&" : "?"}include=${include}`);
  };

  test.each(names)("only %s is returned by id, by name and in the list", async (name) => {
    proves(
      "Versioning/2023-06-09",
      "Versioning/2021-07-19",
      "Versioning/2021-03-08",
      "Workspace includes/current_configuration_version, and its ingress_attributes",
      "Workspace includes/current_run, its configuration_version, the",
      "Workspace includes/locked_by",
      "Workspace includes/outputs",
    );
    const shown = await get("id", name);
    expect(shown.status).toBe(200);
    expect(typesIn(shown)).toEqual(includes[name]);
    for (const resource of shown.body.included) expect(linked(shown)).toContain(nameOf(resource));
    expect((await get("name", name)).body).toEqual(shown.body);
    const listed = await get("list", name);
    expect(listed.body.data).toEqual([shown.body.data]);
    expect(listed.body.included).toEqual(shown.body.included);
    // Hyphens are accepted too.
    expect((await get("id", name.replaceAll("_", "-"))).body).toEqual(shown.body);
  });

  test("all are returned together, each resource once and linked", async () => {
    proves("Versioning/2021-03-18", "Workspace includes/each resource once, only");
    for (const way of ["id", "name", "list"] as const) {
      const answer = await get(way, names.join());
      expect(typesIn(answer)).toEqual([...new Set(Object.values(includes).flat())].toSorted());
      const found = answer.body.included.map(nameOf);
      expect(new Set(found).size).toBe(found.length);
      for (const name of found) expect(linked(answer)).toContain(name);
    }
  });

  test("an included resource equals its own document", async () => {
    proves(
      "Workspace includes/organization, project",
      "Workspace includes/effective_tag_bindings, current_state_version",
    );
    const { body } = await get("id", names.join());
    const shown = async (path: string) => (await full.owner.api.get(path)).body.data;
    const included = (type: string) =>
      body.included.filter((resource: Resource) => resource.type === type);
    expect(included("projects")).toEqual([await shown(`/projects/${full.projectId}`)]);
    const organization = await shown(`/organizations/${full.organization}`);
    // The link to the default project is omitted; include-cycle.test.ts explains why.
    delete organization.relationships["default-project"].data;
    expect(included("organizations")).toEqual([organization]);
    expect(included("state-versions")).toEqual([await shown(`${paths.id}/current-state-version`)]);
    const effective = await shown(`${paths.id}/effective-tag-bindings`);
    expect(included("effective-tag-bindings")).toEqual(effective);
    expect(body.data.relationships["effective-tag-bindings"].data).toEqual(
      effective.map(({ type, id }: Resource) => ({ type, id })),
    );
  });

  test.each(["nothing", "vars", "project.organization", "current_run.nothing", "project,nothing"])(
    "%s is not a valid include: 400 names it",
    async (name) => {
      proves("Workspace includes/unknown names");
      for (const way of ["id", "name", "list"] as const) {
        const refused = await get(way, name);
        expect(refused.status).toBe(400);
        expect(errorDetails(refused)[0]).toContain("include parameter");
      }
    },
  );
});

test("resources that the caller may not read are omitted", async () => {
  proves("Workspace includes/each resource once, only");
  const { owner } = fixture();
  const actor = await newActor(fixture(), teamRole("workspace custom"));
  const id = await actor.workspace();
  await writeState(owner.api, id, stateFile());
  const path = `/workspaces/${id}?include=current_state_version,outputs,project`;
  expect(typesIn(await owner.api.get(path))).toEqual(["projects", "state-versions"]);
  const answer = await actor.api.get(path);
  expect(answer.status).toBe(200);
  expect(answer.body.included).toEqual([]);
});

describe("of many workspaces", () => {
  let runner: Runner;
  let list: string;
  let api: Api;
  const SEVERAL = 6;
  beforeAll(async () => {
    runner = (await fixture().stack.runnerCalls("runner")).reports;
    const { owner } = fixture();
    api = owner.api;
    const organization = await newOrganization(api);
    list = `/organizations/${organization}/workspaces`;
    const within = { organization, owner };
    const projects = [await newProject(within), await newProject(within)];
    const outputs = { text: { value: "a", type: "string" } };
    for (let number = 0; number < SEVERAL; number++) {
      const project = projects[number % 2]?.id;
      const { id: workspaceId } = await newWorkspace(within, {}, project);
      await writeState(api, workspaceId, stateFile({ outputs }));
      await expectStatus(200, api.post(`/workspaces/${workspaceId}/actions/lock`));
      const bindings = [{ type: "tag-bindings", attributes: { key: "a", value: `${number}` } }];
      await expectStatus(
        200,
        api.patch(`/workspaces/${workspaceId}/tag-bindings`, { data: bindings }),
      );
      const configurationVersionId = await runner.configurationVersion({
        workspaceId,
        ingressAttributes: { id: newId("ia") },
      });
      await runner.readme({ workspaceId, rawMarkdown: "#" });
      await runner.run({ workspaceId, configurationVersionId, plan: { id: newId("plan") } });
    }
    await waitFor(async () => {
      const { body } = await api.get(`${list}?include=${names.join()}`);
      const runs = body.included.filter(({ type }: Resource) => type === "plans");
      const outputs = body.included.filter(({ type }: Resource) => type === "workspace-outputs");
      return runs.length === SEVERAL && outputs.length === SEVERAL;
    });
  });

  const cost = (size: number, include: string) =>
    costOf(() => expectStatus(200, api.get(`${list}?page[size]=${size}&include=${include}`)));

  test.each(names)("%s takes the same few calls for one as for many", async (name) => {
    proves("Workspace includes/current_configuration_version, and its ingress_attributes");
    const plain = await cost(SEVERAL, "");
    const one = await cost(1, name);
    expect(await cost(SEVERAL, name)).toEqual(one);
    // Each level adds at most one call and one statement. One further call and two further statements are allowed.
    const levels = name.split(".").length;
    expect(one.calls - plain.calls).toBeLessThanOrEqual(levels + 1);
    expect(one.statements - plain.statements).toBeLessThanOrEqual(levels + 2);
  });

  test("a list with three includes takes at most eight statements", async () => {
    for (const three of ["project,locked_by,current_run", "organization,outputs,readme"]) {
      expect((await cost(SEVERAL, three)).statements).toBeLessThanOrEqual(8);
    }
  });
});

test("the agent pool of a workspace is included as agent_pool", async () => {
  const { owner, organization } = fixture();
  const pool = await expectStatus(
    201,
    owner.api.post(
      `/organizations/${organization}/agent-pools`,
      document("agent-pools", { name: unusedName("pool") }),
    ),
  );
  const workspace = await newWorkspace(fixture(), {
    "execution-mode": "agent",
    "agent-pool-id": pool.body.data.id,
  });
  const { body } = await owner.api.get(`/workspaces/${workspace.id}?include=agent_pool`);
  const { data } = (await owner.api.get(`/agent-pools/${pool.body.data.id}`)).body;
  // The included agent pool has no relationships to its workspaces and projects; include-cycle.test.ts explains why.
  expect(body.included).toMatchObject([{ id: data.id, attributes: data.attributes }]);
  expect(body.included[0].relationships).not.toHaveProperty("allowed-projects");
});
