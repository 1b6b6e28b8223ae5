import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { md5Of, processedVersion, stateFile, writeState } from "../stack/state.ts";
import { newProject, newTeam, newWorkspace, problems, useFixture } from "./fixture.ts";

// These tests change settings of projects, workspaces and teams with exactly the requests that public clients send.

const fixture = useFixture();
const update = (id: string, attributes: Record<string, unknown>) =>
  fixture().owner.api.patch(`/workspaces/${id}`, document("workspaces", attributes));

describe("settings that are given and made inherited in one request", () => {
  test("a workspace ignores the execution mode and the agent pool", async () => {
    proves("Public clients/1");
    const { id } = await newWorkspace(fixture(), { "execution-mode": "remote" });
    const inherited = { "execution-mode": false, "agent-pool": false };
    const answer = await update(id, {
      "execution-mode": "agent",
      "agent-pool-id": "apool-0000000000000000",
      "setting-overwrites": inherited,
    });
    expect(answer.status).toBe(200);
    expect(answer.body.data.attributes).toMatchObject({
      "execution-mode": "local",
      "setting-overwrites": inherited,
    });
  });

  test("a project ignores the default execution mode", async () => {
    proves("Public clients/1");
    const project = await newProject(fixture());
    const answer = await fixture().owner.api.patch(
      `/projects/${project.id}`,
      document("projects", {
        "default-execution-mode": "remote",
        "setting-overwrites": { "default-execution-mode": false, "default-agent-pool": false },
      }),
    );
    expect(answer.status).toBe(200);
    expect(answer.body.data.attributes).toMatchObject({
      "default-execution-mode": "local",
      "setting-overwrites": { "default-execution-mode": false, "default-agent-pool": false },
    });
  });

  test("a project's two overwrites must have the same value", async () => {
    proves("Public clients/2");
    const project = await newProject(fixture());
    const answer = await fixture().owner.api.patch(
      `/projects/${project.id}`,
      document("projects", {
        "default-execution-mode": "remote",
        "setting-overwrites": { "default-execution-mode": true, "default-agent-pool": false },
      }),
    );
    expect(problems(answer)).toEqual({
      "/data/attributes/setting-overwrites/default-agent-pool":
        "If agent-pool and execution-mode are both included in setting-overwrites, their values must be the same.",
    });
  });
});

describe("settings that exclude one another", () => {
  const triggers = (answer: Awaited<ReturnType<typeof update>>) => {
    const { attributes } = answer.body.data;
    return [attributes["trigger-prefixes"], attributes["trigger-patterns"]];
  };

  test("trigger prefixes and patterns empty each other, and cannot be given together", async () => {
    proves("Public clients/3");
    const { id } = await newWorkspace(fixture(), { "trigger-prefixes": ["a"] });
    expect(triggers(await update(id, { "trigger-patterns": ["b/*"] }))).toEqual([[], ["b/*"]]);
    expect(triggers(await update(id, { "trigger-prefixes": [] }))).toEqual([[], []]);
    const one = { "trigger-prefixes": ["c"], "trigger-patterns": [] };
    expect(triggers(await update(id, one))).toEqual([["c"], []]);
    const both = await update(id, { "trigger-prefixes": ["c"], "trigger-patterns": ["d"] });
    expect(both.status).toBe(422);
    expect(Object.keys(problems(both))).toEqual(["/data/attributes/trigger-patterns"]);
  });

  test("a time and a duration of auto-destroy replace each other", async () => {
    proves("Public clients/4", "Public clients/5");
    const { id } = await newWorkspace(fixture(), { "auto-destroy-activity-duration": "7d" });
    const at = "2031-01-01T00:00:00.000Z";
    const fixed = (await update(id, { "auto-destroy-at": at })).body.data.attributes;
    expect(fixed).toMatchObject({
      "auto-destroy-at": at,
      "auto-destroy-activity-duration": null,
      "inherits-project-auto-destroy": false,
    });
    const lasting = { "auto-destroy-at": null, "auto-destroy-activity-duration": "2h" };
    const shown = (await update(id, lasting)).body.data.attributes;
    expect(shown["auto-destroy-activity-duration"]).toBe("2h");
    expect(shown["auto-destroy-at"]).not.toBe(at);
    const none = { "auto-destroy-at": null, "auto-destroy-activity-duration": null };
    expect((await update(id, none)).body.data.attributes).toMatchObject({
      ...none,
      "inherits-project-auto-destroy": true,
    });
  });
});

test("trigger patterns without file triggers are refused with the text that clients compare", async () => {
  proves("Real clients/3");
  const { owner, organization } = fixture();
  const attributes = { "file-triggers-enabled": false, "trigger-patterns": ["a/*"] };
  const refused = {
    "/data/attributes/trigger-patterns":
      "'trigger_patterns' cannot be populated when 'file_triggers_enabled' is set to false.",
  };
  const made = await owner.api.post(
    `/organizations/${organization}/workspaces`,
    document("workspaces", { name: unusedName("patterns"), ...attributes }),
  );
  expect(made.status).toBe(422);
  expect(problems(made)).toEqual(refused);
  const { id } = await newWorkspace(fixture());
  const changed = await owner.api.patch(`/workspaces/${id}`, document("workspaces", attributes));
  expect(changed.status).toBe(422);
  expect(problems(changed)).toEqual(refused);
});

test("a workspace whose auto-destroy time is cleared inherits its project's duration", async () => {
  proves("Real clients/2");
  const { owner } = fixture();
  const project = await newProject(fixture());
  const duration = "auto-destroy-activity-duration";
  await owner.api.patch(`/projects/${project.id}`, document("projects", { [duration]: "9d" }));
  const { id } = await newWorkspace(fixture(), { [duration]: "2h" }, project.id);
  const shown = async (attributes: Record<string, unknown>) => {
    const { status, body } = await owner.api.patch(
      `/workspaces/${id}`,
      document("workspaces", attributes),
    );
    expect(status).toBe(200);
    return body.data.attributes;
  };
  expect(await shown({ "auto-destroy-at": null })).toMatchObject({
    [duration]: "9d",
    "inherits-project-auto-destroy": true,
  });
  expect(await shown({ "auto-destroy-at": "2031-01-01T00:00:00.000Z" })).toMatchObject({
    [duration]: null,
    "inherits-project-auto-destroy": false,
  });
  expect(await shown({ "auto-destroy-at": null, [duration]: "3h" })).toMatchObject({
    "auto-destroy-at": expect.not.stringMatching(/^2031/),
    [duration]: "3h",
    "inherits-project-auto-destroy": false,
  });
});

describe("names", () => {
  test.each(["a.b.c", "abc ", "a/b/c"])(
    "%j is not the name of a project: the detail says which characters are allowed",
    async (name) => {
      proves("Public clients/7");
      const { owner, organization } = fixture();
      const path = `/organizations/${organization}/projects`;
      const answer = await owner.api.post(path, document("projects", { name }));
      expect(problems(answer)["/data/attributes/name"]).toMatch(/^Name may only contain/);
    },
  );

  test("projects are found by name in any case", async () => {
    proves("Public clients/8");
    const { owner, organization } = fixture();
    const { id, name } = await newProject(fixture());
    const path = `/organizations/${organization}/projects?filter[names]=${name.toUpperCase()},other`;
    const { body } = await owner.api.get(path);
    expect(body.data.map((one: { id: string }) => one.id)).toEqual([id]);
  });

  test.each(["team name with spaces", "team/name/with/slashes", "v1.2_x-y"])(
    "%j is a team, and is found and renamed under this name",
    async (text) => {
      proves("Public clients/16");
      const { owner, organization } = fixture();
      const name = `${text} ${unusedName("x")}`;
      const path = `/organizations/${organization}/teams`;
      const made = await owner.api.post(path, document("teams", { name }));
      expect(made.status).toBe(201);
      expect(made.body.data.attributes.name).toBe(name);
      const found = await owner.api.get(`${path}?filter[names]=${encodeURIComponent(name)}`);
      expect(found.body.data.map((one: { id: string }) => one.id)).toEqual([made.body.data.id]);
    },
  );

  test.each([" a", "a ", "a+b", "a".repeat(91), "", "own ers", "o/w.n-e_r s"])(
    "%j is not the name of a team",
    async (name) => {
      proves("Public clients/16");
      const { owner, organization } = fixture();
      const path = `/organizations/${organization}/teams`;
      const answer = await owner.api.post(path, document("teams", { name }));
      expect(answer.status).toBe(422);
      expect(Object.keys(problems(answer))).toEqual(["/data/attributes/name"]);
    },
  );

  test("organizations are found by name, by address, and by either", async () => {
    proves("Public clients/23");
    const { owner } = fixture();
    const name = await newOrganization(owner.api);
    const email = `${unusedName("post")}@example.org`;
    await owner.api.patch(`/organizations/${name}`, document("organizations", { email }));
    const found = async (query: string) =>
      (await owner.api.get(`/organizations?${query}`)).body.data.map(
        (one: { id: string }) => one.id,
      );
    expect(await found(`q=${encodeURIComponent(email)}`)).toEqual([name]);
    expect(await found(`q=${name}`)).toEqual([name]);
    expect(await found(`q[email]=${encodeURIComponent(email)}`)).toEqual([name]);
    expect(await found(`q[name]=${encodeURIComponent(email)}`)).toEqual([]);
    expect(await found(`q[email]=${name}`)).toEqual([]);
    expect((await fixture().outsider.api.get(`/organizations?q=${name}`)).body.data).toEqual([]);
  });
});

test("with project remote state, the consumers are the project's other workspaces and only they", async () => {
  proves("Public clients/9");
  const { owner } = fixture();
  const { id: projectId } = await newProject(fixture());
  const producer = await newWorkspace(fixture(), {}, projectId);
  const sibling = await newWorkspace(fixture(), {}, projectId);
  const approved = await newWorkspace(fixture());
  const path = `/workspaces/${producer.id}/relationships/remote-state-consumers`;
  const body = { data: [{ type: "workspaces", id: approved.id }] };
  expect((await owner.api.post(path, body)).status).toBe(204);
  const consumers = async () =>
    (await owner.api.get(path)).body.data.map((one: { id: string }) => one.id);
  expect(await consumers()).toEqual([approved.id]);
  await update(producer.id, { "project-remote-state": true });
  expect(await consumers()).toEqual([sibling.id]);
  await update(producer.id, { "project-remote-state": false });
  expect(await consumers()).toEqual([approved.id]);
});

describe("tags", () => {
  const bindings = (count: number, value = "") =>
    Array.from({ length: count }, (_, index) => ({
      type: "tag-bindings",
      attributes: { key: `key${index}`, value },
    }));

  test("more than ten bindings in one request are refused, even without values", async () => {
    proves("Public clients/11");
    const { owner } = fixture();
    const workspace = await newWorkspace(fixture());
    const project = await newProject(fixture());
    for (const path of [`/workspaces/${workspace.id}`, `/projects/${project.id}`]) {
      const list = `${path}/tag-bindings`;
      expect((await owner.api.patch(list, { data: bindings(10) })).status).toBe(200);
      expect((await owner.api.patch(list, { data: bindings(11) })).status).toBe(422);
    }
  });

  test("an unknown id to exclude excludes nothing", async () => {
    proves("Public clients/12");
    const { owner, organization, readable } = fixture();
    const name = unusedName("tag");
    const { id } = await newWorkspace(fixture(), { "tag-names": [] });
    await owner.api.post(`/workspaces/${id}/relationships/tags`, {
      data: [{ type: "tags", attributes: { name } }],
    });
    const found = async (excluded: string) => {
      const query = `q=${name}&filter[exclude][taggable][id]=${excluded}`;
      const answer = await owner.api.get(`/organizations/${organization}/tags?${query}`);
      expect(answer.status).toBe(200);
      return answer.body.data.length;
    };
    expect(await found("ws-0000000000000000")).toBe(1);
    expect(await found(readable.id)).toBe(1);
    expect(await found(id)).toBe(0);
  });
});

test("workspace resources name their module without prefixes", async () => {
  proves("Public clients/13");
  const { owner } = fixture();
  const { id } = await newWorkspace(fixture());
  const resource = (module: string | undefined, name: string) => ({
    ...(module === undefined ? {} : { module }),
    mode: "managed",
    type: "aws_s3_bucket",
    name,
    provider: 'provider["registry.terraform.io/hashicorp/aws"]',
    instances: [{ index_key: 0, attributes: {} }],
  });
  const state = stateFile();
  const content = {
    ...JSON.parse(state.bytes.toString()),
    resources: [
      resource("module.media_bucket", "this"),
      resource('module.a["x.module.y"].module.b', "deep"),
      resource(undefined, "top"),
    ],
  };
  const bytes = Buffer.from(JSON.stringify(content));
  const written = await writeState(owner.api, id, { ...state, bytes, md5: md5Of(bytes) });
  await processedVersion(owner.api, written.body.data.id);
  const { body } = await owner.api.get(`/workspaces/${id}/resources`);
  const shown = body.data.map((one: { attributes: { module: string; address: string } }) => [
    one.attributes.module,
    one.attributes.address,
  ]);
  expect(shown.toSorted()).toEqual([
    ['a["x.module.y"].b', 'a["x.module.y"].b.aws_s3_bucket.deep[0]'],
    ["media_bucket", "media_bucket.aws_s3_bucket.this[0]"],
    ["root", "aws_s3_bucket.top[0]"],
  ]);
});

test("access that becomes custom keeps the permissions of its level", async () => {
  proves("Public clients/17");
  const { owner } = fixture();
  const team = await newTeam(fixture());
  const workspace = await newWorkspace(fixture());
  const made = await owner.api.post(
    "/team-workspaces",
    document(
      "team-workspaces",
      { access: "write" },
      {
        team: { data: { type: "teams", id: team.id } },
        workspace: { data: { type: "workspaces", id: workspace.id } },
      },
    ),
  );
  const custom = await owner.api.patch(
    `/team-workspaces/${made.body.data.id}`,
    document("team-workspaces", { access: "custom", runs: "read" }),
  );
  expect(custom.status).toBe(200);
  expect(custom.body.data.attributes).toMatchObject({
    access: "custom",
    runs: "read",
    variables: "write",
    "state-versions": "write",
    "sentinel-mocks": "read",
    "workspace-locking": true,
  });
});

test("a team can have many tokens with an empty description; a token without a description is the team's default", async () => {
  proves("Public clients/19");
  const { owner } = fixture();
  const team = await newTeam(fixture());
  const path = `/teams/${team.id}/authentication-tokens`;
  const token = (attributes: Record<string, unknown>) =>
    document("authentication-token", attributes);
  for (const _ of [1, 2]) {
    const made = await owner.api.post(path, token({ description: "" }));
    expect(made.status).toBe(201);
    expect(made.body.data.attributes.description).toBe("");
  }
  const unnamed = await owner.api.post(path, token({}));
  expect(unnamed.status).toBe(201);
  expect(unnamed.body.data.attributes.description).toBeNull();
  const shown = await owner.api.get(`/teams/${team.id}/authentication-token`);
  expect(shown.body.data.id).toBe(unnamed.body.data.id);
});
