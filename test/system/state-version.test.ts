import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { download } from "../stack/http.ts";
import {
  announcement,
  inlineState,
  md5Of,
  processedVersion,
  stateFile,
  writeState,
} from "../stack/state.ts";
import {
  errorDetails,
  newLockedWorkspace,
  newTeam,
  newWorkspace,
  problems,
  useFixture,
} from "./fixture.ts";

const fixture = useFixture();

const path = (id: string) => `/workspaces/${id}/state-versions`;
const create = (id: string, body: unknown) => fixture().owner.api.post(path(id), body);
const shown = async (id: string) =>
  (await fixture().owner.api.get(`/state-versions/${id}`)).body.data;
const processed = (id: string) => processedVersion(fixture().owner.api, id);

describe("a state version with inline state", () => {
  test("is finalized and current immediately, and can be read as created", async () => {
    proves(
      "State version/modules, providers, resources",
      "State version/state-version",
      "State version/engine-version, also as terraform-version",
      "State version creation/state: optional Base64; given",
      "State version status/(none), create with state",
      "Reading/GET /state-versions/:id, GET /workspaces/:id/current-state-version",
    );
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile({ serial: 7, resources: 2 });
    const created = await create(id, inlineState(state));
    expect(created.status).toBe(201);
    const { data } = created.body;
    expect(data.attributes).toMatchObject({
      serial: 7,
      status: "finalized",
      intermediate: false,
      "hosted-state-upload-url": null,
      "hosted-state-download-url": expect.stringMatching(/^http/),
    });
    const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
    expect(current.status).toBe(200);
    expect(current.body.data.id).toBe(data.id);
    const got = await download(data.attributes["hosted-state-download-url"], owner.token);
    expect(got.bytes.equals(state.bytes)).toBe(true);
    const settled = await processed(data.id);
    expect(settled.attributes).toMatchObject({
      "engine-version": "1.11.0",
      "terraform-version": "1.11.0",
      "state-version": 4,
      size: state.bytes.length,
      resources: [
        expect.objectContaining({ type: "terraform_data", count: 1 }),
        expect.objectContaining({ type: "terraform_data", count: 1 }),
      ],
      modules: { root: { "terraform-data": 2 } },
    });
    const workspace = await waitFor(async () => {
      const { body } = await owner.api.get(`/workspaces/${id}`);
      return body.data.attributes["resource-count"] === 2 && body.data;
    });
    expect(workspace.relationships["current-state-version"].data.id).toBe(data.id);
    expect(Date.parse(workspace.attributes["latest-change-at"])).toBeGreaterThanOrEqual(
      Date.parse(data.attributes["created-at"]),
    );
  });

  test("has every attribute and relationship that clients read", async () => {
    proves("State version/created-at, size, md5, lineage; relationships and links");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const { data } = (await create(id, inlineState(stateFile()))).body;
    expect(data.id).toMatch(/^sv-[A-Za-z0-9]{16}$/);
    expect(data).toMatchObject({
      type: "state-versions",
      attributes: {
        "created-at": expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        "hosted-json-state-download-url": null,
        "resources-processed": expect.any(Boolean),
        size: expect.any(Number),
      },
      relationships: {
        workspace: { data: { id, type: "workspaces" } },
        "created-by": { data: { id: owner.id, type: "users" } },
        run: { data: null },
        outputs: expect.anything(),
      },
      links: { self: `/api/v2/state-versions/${data.id}` },
    });
  });

  test("with a wrong md5 returns 422 and creates nothing", async () => {
    proves("State version creation/md5: other bytes are");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const answer = await create(id, inlineState(stateFile(), { md5: "0".repeat(32) }));
    expect(answer.status).toBe(422);
    expect(Object.keys(problems(answer))).toEqual(["/data/attributes/md5"]);
    expect((await owner.api.get(`/workspaces/${id}/current-state-version`)).status).toBe(404);
    expect((await owner.api.post(`/workspaces/${id}/actions/unlock`)).status).toBe(200);
  });

  test("that is encrypted needs no outputs and shows nothing of its contents", async () => {
    proves("State version/resources-processed");
    const { id } = await newLockedWorkspace(fixture());
    const encrypted = Buffer.from(
      '{"serial":1,"lineage":"x","meta":{},"encrypted_data":"Zm9v","encryption_version":"v0"}',
    );
    const state = { ...stateFile({ lineage: "x" }), bytes: encrypted };
    const created = await create(id, inlineState({ ...state, md5: md5Of(encrypted) }));
    expect(created.status).toBe(201);
    expect((await processed(created.body.data.id)).attributes.resources).toEqual([]);
  });

  test("keeps the serial of the request, regardless of the file", async () => {
    proves("State version/serial");
    const { id } = await newLockedWorkspace(fixture());
    const created = await create(id, inlineState({ ...stateFile({ serial: 3 }), serial: 9 }));
    expect(created.status).toBe(201);
    expect((await processed(created.body.data.id)).attributes.serial).toBe(9);
  });

  test("keeps the id of an unknown run", async () => {
    proves("State version creation/relationships.run");
    const { id } = await newLockedWorkspace(fixture());
    const body = inlineState(stateFile());
    const run = { data: { id: "run-0123456789abcdef", type: "runs" } };
    const created = await create(id, { data: { ...body.data, relationships: { run } } });
    expect(created.status).toBe(201);
  });
});

describe("creating a version", () => {
  test("without a lock returns 412", async () => {
    proves("State version creation rules/locked by the caller", "State errors/create");
    const { id } = await newWorkspace(fixture());
    const answer = await create(id, inlineState(stateFile()));
    expect(answer.status).toBe(412);
    errorDetails(answer);
  });

  test("by another user than the holder returns 409", async () => {
    proves("State version creation rules/locked by the caller", "State errors/create");
    const { owner } = fixture();
    const { member: other } = await newTeam(fixture(), ["manage-workspaces"]);
    const { id } = await newLockedWorkspace(fixture());
    const answer = await other.api.post(path(id), inlineState(stateFile()));
    expect(answer.status).toBe(409);
    expect((await owner.api.get(`/workspaces/${id}/current-state-version`)).status).toBe(404);
  });

  test("by readers and users without access, and in an unknown workspace, returns 404", async () => {
    proves("Authentication/8 list, fetch, show state versions", "State errors/create");
    const { reader, outsider, readable, owner } = fixture();
    const { id } = await newWorkspace(fixture(), {}, readable.id);
    await owner.api.post(`/workspaces/${id}/actions/lock`);
    for (const { api } of [reader, outsider]) {
      expect((await api.post(path(id), inlineState(stateFile()))).status).toBe(404);
    }
    expect((await create("ws-0000000000000000", inlineState(stateFile()))).status).toBe(404);
  });
});

test("with a malformed body returns 422 with every problem", async () => {
  proves(
    "State version creation/data.type",
    "State version creation/serial",
    "State version creation/md5: required, of the",
    "State errors/create",
  );
  const { id } = await newLockedWorkspace(fixture());
  const answer = await create(id, {
    data: { type: "state-versions", attributes: { serial: "1", md5: "zz", state: "not base64!" } },
  });
  expect(answer.status).toBe(422);
  expect(Object.keys(problems(answer)).toSorted()).toEqual([
    "/data/attributes/md5",
    "/data/attributes/serial",
    "/data/attributes/state",
  ]);
  const missing = await create(id, { data: { type: "state-versions", attributes: {} } });
  expect(Object.keys(problems(missing)).toSorted()).toEqual([
    "/data/attributes/md5",
    "/data/attributes/serial",
  ]);
  // A client that receives this text would conclude that the server requires inline state.
  expect(JSON.stringify(missing.body)).not.toContain("param is missing");
  for (const attributes of [{ serial: -1 }, { serial: 1.5 }, { serial: 2 ** 53 }, { state: "" }]) {
    const body = announcement(stateFile(), attributes);
    expect((await create(id, body)).status, JSON.stringify(attributes)).toBe(422);
  }
  const outputs = Buffer.from("[1]").toString("base64");
  const wrong = await create(id, inlineState(stateFile(), { "json-state-outputs": outputs }));
  expect(Object.keys(problems(wrong))).toEqual(["/data/attributes/json-state-outputs"]);
  const type = await create(id, { data: { ...inlineState(stateFile()).data, type: "states" } });
  expect(Object.keys(problems(type))).toEqual(["/data/type"]);
});

describe("the list of versions", () => {
  const list = (organization: string, workspace: string, more = "") =>
    `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${workspace}${more}`;

  test("contains a workspace's versions, newest first, by status and in pages", async () => {
    proves("State version/status: pending, finalized, discarded", "Reading/GET /state-versions");
    const { owner, organization } = fixture();
    const { id, attributes } = await newLockedWorkspace(fixture());
    const { lineage } = stateFile();
    const ids: string[] = [];
    for (const serial of [1, 2, 3, 4]) {
      const created = await create(
        id,
        inlineState(stateFile({ serial, lineage }), { force: true }),
      );
      ids.unshift(created.body.data.id);
      // Creates a pending version that the version of the next iteration supersedes.
      if (serial === 2)
        await create(id, announcement(stateFile({ serial: 3, lineage, marker: "x" })));
    }
    const idsOf = async (more = "") => {
      const answer = await owner.api.get(list(organization, attributes.name, more));
      expect(answer.status).toBe(200);
      return answer.body.data.map((data: { id: string }) => data.id);
    };
    expect(await idsOf("&filter[status]=finalized")).toEqual(ids);
    expect(await idsOf("&filter[status]=discarded")).toHaveLength(1);
    expect(await idsOf("&filter[status]=pending")).toEqual([]);
    expect(await idsOf()).toHaveLength(5);
    const page = await owner.api.get(
      list(organization, attributes.name, "&page[size]=2&page[number]=2&filter[status]=finalized"),
    );
    expect(page.body.data.map((data: { id: string }) => data.id)).toEqual(ids.slice(2, 4));
    expect(page.body.meta.pagination).toMatchObject({ "total-count": 4, "total-pages": 2 });
    expect(page.body.data[0]).toEqual(await shown(ids[2] ?? ""));
  });

  test("requires a workspace and accepts valid pages and includes only", async () => {
    proves("Reading/GET /state-versions");
    const { owner, organization } = fixture();
    const { attributes } = await newWorkspace(fixture());
    for (const query of [
      "",
      `?filter[organization][name]=${organization}`,
      `?filter[workspace][name]=${attributes.name}`,
    ]) {
      const answer = await owner.api.get(`/state-versions${query}`);
      expect(answer.status).toBe(400);
      expect(errorDetails(answer)[0]).toContain("is required");
    }
    const wrongPage = await owner.api.get(list(organization, attributes.name, "&page[size]=0"));
    expect(wrongPage.status).toBe(400);
    const include = await owner.api.get(list(organization, attributes.name, "&include=nothing"));
    expect(include.status).toBe(400);
    expect((await owner.api.get(list(organization, "nothing"))).status).toBe(404);
    expect((await owner.api.get(list("nowhere", attributes.name))).status).toBe(404);
  });
});

test("a response contains each included resource once", async () => {
  proves("State version includes/created_by: the user or", "State version includes/any other name");
  const { owner, organization } = fixture();
  const { id, attributes } = await newLockedWorkspace(fixture());
  const outputs = { text: { value: "a", type: "string" } };
  const encoded = Buffer.from(JSON.stringify(outputs)).toString("base64");
  const created = await create(
    id,
    inlineState(stateFile({ outputs }), { "json-state-outputs": encoded }),
  );
  const version = created.body.data.id;
  for (const target of [`/state-versions/${version}`, `/workspaces/${id}/current-state-version`]) {
    const { status, body } = await owner.api.get(`${target}?include=created_by,outputs`);
    expect(status).toBe(200);
    expect(body.included.map(({ type }: { type: string }) => type).toSorted()).toEqual([
      "state-version-outputs",
      "users",
    ]);
    const refused = await owner.api.get(`${target}?include=workspace.nothing`);
    expect(refused.status).toBe(400);
    expect(errorDetails(refused)[0]).toContain("include parameter");
  }
  const listed = await owner.api.get(
    `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${attributes.name}&include=created_by`,
  );
  expect(listed.body.included).toHaveLength(1);
});

test("a workspace without state has no current version, and unknown versions are not found", async () => {
  proves(
    "Reading/GET /state-versions/:id, GET /workspaces/:id/current-state-version",
    "State errors/current, show",
  );
  const { owner, outsider } = fixture();
  const { id } = await newWorkspace(fixture());
  expect((await owner.api.get(`/workspaces/${id}/current-state-version`)).status).toBe(404);
  expect((await owner.api.get("/state-versions/sv-0000000000000000")).status).toBe(404);
  const written = await writeState(owner.api, id, stateFile());
  expect((await outsider.api.get(`/state-versions/${written.body.data.id}`)).status).toBe(404);
  expect((await outsider.api.get(`/workspaces/${id}/current-state-version`)).status).toBe(404);
});
