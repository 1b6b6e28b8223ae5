import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { download } from "../stack/http.ts";
import { announcement, inlineState, md5Of, processedVersion, stateFile } from "../stack/state.ts";
import { workspaceAccess } from "../stack/team-access.ts";
import { newLockedWorkspace, newTeam, useFixture, waysToVersion } from "./fixture.ts";

const fixture = useFixture();

const create = (id: string, body: unknown) =>
  fixture().owner.api.post(`/workspaces/${id}/state-versions`, body);

const processed = (versionId: string) => processedVersion(fixture().owner.api, versionId);

const waysTo = (workspace: { id: string; attributes: { name: string } }, versionId: string) =>
  waysToVersion(fixture(), workspace, versionId);

const sensitive = { value: "hunter2", type: "string", sensitive: true };
const outputs = { plain: { value: "a", type: "string" }, secret: sensitive };

describe("a caller with read access to outputs only", () => {
  async function outputsReader(level: string) {
    const { owner } = fixture();
    const { id: teamId, member } = await newTeam(fixture());
    const workspace = await newLockedWorkspace(fixture());
    const granted = await owner.api.post(
      "/team-workspaces",
      workspaceAccess(teamId, workspace.id, {
        access: "custom",
        runs: "read",
        "state-versions": level,
      }),
    );
    expect(granted.status).toBe(200);
    const created = await create(workspace.id, inlineState(stateFile({ outputs })));
    const version = await processed(created.body.data.id);
    const listed = await owner.api.get(`/state-versions/${version.id}/outputs`);
    const secret = listed.body.data.find(
      ({ attributes }: { attributes: { name: string } }) => attributes.name === "secret",
    );
    return { ...member, workspace, version, secretId: secret.id as string };
  }

  test.each(["read-outputs", "read", "write"])(
    "with %s reads sensitive values of a version, and current outputs without them",
    async (level) => {
      proves("Reading/the right to read");
      const { api, workspace, version, secretId } = await outputsReader(level);
      for (const [path, inClear] of [
        [`/workspaces/${workspace.id}/current-state-version-outputs`, false],
        [`/state-versions/${version.id}/outputs`, true],
      ] as const) {
        const { status, body } = await api.get(path);
        expect(status).toBe(200);
        expect(JSON.stringify(body).includes("hunter2"), path).toBe(inClear);
        expect(body.data).toHaveLength(2);
      }
      const { status, body } = await api.get(`/state-version-outputs/${secretId}`);
      expect([status, body.data.attributes.value]).toEqual([200, "hunter2"]);
    },
  );

  test.each([
    ["read-outputs", 404],
    ["none", 404],
    ["read", 200],
  ])("with %s gets %i for states and their contents", async (level, expected) => {
    proves("Reading/the right to read");
    const { api, token, workspace, version } = await outputsReader(level);
    const paths = [...Object.values(waysTo(workspace, version.id))];
    for (const path of [...paths, `/workspaces/${workspace.id}/resources`]) {
      expect((await api.get(path)).status, path).toBe(expected);
    }
    const url = version.attributes["hosted-state-download-url"];
    expect((await download(url, token)).status).toBe(expected);
  });

  test("with none gets 404 for outputs, too", async () => {
    proves("Reading/the right to read");
    const { api, workspace, version, secretId } = await outputsReader("none");
    for (const path of [
      `/workspaces/${workspace.id}/current-state-version-outputs`,
      `/state-versions/${version.id}/outputs`,
      `/state-version-outputs/${secretId}`,
    ]) {
      expect((await api.get(path)).status, path).toBe(404);
    }
  });
});

describe("the extraction", () => {
  /** Creates a version with these bytes; returns its attributes and its outputs after its extraction. */
  async function read(text: string) {
    const { owner } = fixture();
    const bytes = Buffer.from(text);
    const { id } = await newLockedWorkspace(fixture());
    const state = { serial: 1, lineage: "", bytes, md5: md5Of(bytes) };
    const created = await create(id, inlineState(state));
    expect(created.status).toBe(201);
    const version = await processed(created.body.data.id);
    // Content is returned unchanged, even if it cannot be extracted.
    const got = await download(version.attributes["hosted-state-download-url"], owner.token);
    expect(got.bytes.equals(bytes)).toBe(true);
    const listed = await owner.api.get(`/workspaces/${id}/current-state-version-outputs`);
    expect(listed.status).toBe(200);
    return { ...version.attributes, outputs: listed.body.data };
  }
  const empty = { resources: [], modules: {}, providers: {}, outputs: [] };

  test("also covers format 3", async () => {
    proves("State version/modules, providers, resources", "State version/state-version");
    const found = await read(
      JSON.stringify({
        version: 3,
        terraform_version: "0.11.14",
        serial: 1,
        modules: [
          {
            path: ["root"],
            outputs: { ids: { type: "list", value: ["a"] } },
            resources: {
              "null_resource.a.0": { type: "null_resource", provider: "provider.null" },
              "null_resource.a.1": { type: "null_resource", provider: "provider.null" },
            },
          },
        ],
      }),
    );
    expect(found).toMatchObject({
      "state-version": 3,
      "engine-version": "0.11.14",
      "terraform-version": "0.11.14",
      resources: [{ name: "a", type: "null_resource", count: 2, module: "root" }],
      modules: { root: { "null-resource": 2 } },
      providers: { "provider.null": { "null-resource": 2 } },
      outputs: [{ attributes: { type: "array", "detailed-type": ["tuple", ["string"]] } }],
    });
  });

  test.each([
    ["encrypted", '{"serial":1,"lineage":"x","meta":{},"encrypted_data":"Zm9v"}', null],
    ["of an unknown format", '{"version":5,"terraform_version":"9.0.0","resources":"?"}', 5],
    ["not a state", "\u0000 neither JSON nor text", null],
    ["broken", '{"version":4,"resources":[{"instances":"many"}]}', null],
  ])("is empty if the state is %s, which is stored as it is", async (_, text, format) => {
    proves("State version/resources-processed", "Extraction/encrypted and unknown formats");
    expect(await read(text)).toMatchObject({ ...empty, "state-version": format });
  });
});

describe("the list of a workspace's versions", () => {
  test("has 20 on a page by default, newest first", async () => {
    proves("Reading/page[number], page[size]", "State limits/default page size 20");
    const { owner } = fixture();
    const workspace = await newLockedWorkspace(fixture());
    const { lineage } = stateFile();
    const serials = Array.from({ length: 21 }, (_, index) => index + 1);
    for (const serial of serials) {
      await create(workspace.id, inlineState(stateFile({ serial, lineage })));
    }
    const { list } = waysTo(workspace, "");
    const { body } = await owner.api.get(list);
    const shown = body.data.map(
      (data: { attributes: { serial: number } }) => data.attributes.serial,
    );
    expect(shown).toEqual(serials.slice(1).toReversed());
    expect(body.meta.pagination).toMatchObject({
      "page-size": 20,
      "total-count": 21,
      "next-page": 2,
    });
  });

  test("can be filtered by an existing status only", async () => {
    proves("State version/status: pending, finalized, discarded", "Reading/filter[status]");
    const { owner } = fixture();
    const workspace = await newLockedWorkspace(fixture());
    const state = stateFile();
    await create(workspace.id, inlineState(state));
    await create(workspace.id, announcement(stateFile({ serial: 2, lineage: state.lineage })));
    const { list } = waysTo(workspace, "");
    const statuses = async (more: string) => {
      const { status, body } = await owner.api.get(`${list}${more}`);
      expect(status, more).toBe(200);
      return body.data.map((data: { attributes: { status: string } }) => data.attributes.status);
    };
    expect(await statuses("")).toEqual(["pending", "finalized"]);
    expect(await statuses("filter[status]=")).toEqual(["pending", "finalized"]);
    expect(await statuses("filter[status]=pending")).toEqual(["pending"]);
    expect(await statuses("filter[status]=backing_data_soft_deleted")).toEqual([]);
    expect(await statuses("filter[status]=nonsense")).toEqual([]);
    expect(await statuses("page[size]=1&page[number]=2")).toEqual(["finalized"]);
    expect(await statuses("page[number]=9")).toEqual([]);
    expect((await owner.api.get(`${list}filter[status]=%00`)).status).toBe(400);
  });
});
