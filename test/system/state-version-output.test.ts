import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import {
  announcement,
  inlineState,
  md5Of,
  processedVersion,
  stateFile,
  writeState,
} from "../stack/state.ts";
import { errorDetails, newLockedWorkspace, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

/** An output of each kind, with the type that clients read. */
const every = {
  text: [{ value: "Zoë ✓ <&>", type: "string" }, "string"],
  number: [{ value: 3.5, type: "number" }, "number"],
  flag: [{ value: true, type: "bool" }, "bool"],
  list: [{ value: ["a", "b"], type: ["list", "string"] }, "array"],
  set: [{ value: ["a", "b"], type: ["set", "string"] }, "array"],
  tuple: [{ value: [1, "two"], type: ["tuple", ["number", "string"]] }, "array"],
  map: [{ value: { a: 1 }, type: ["map", "number"] }, "map"],
  object: [
    {
      value: { name: "n", deep: [false] },
      type: ["object", { name: "string", deep: ["list", "bool"] }],
    },
    "object",
  ],
} as const;
const outputs = {
  ...Object.fromEntries(Object.entries(every).map(([name, [output]]) => [name, output])),
  secret: {
    value: { password: "hunter2" },
    type: ["object", { password: "string" }],
    sensitive: true,
  },
};

const current = (id: string) => `/workspaces/${id}/current-state-version-outputs`;
const byName = (data: { attributes: { name: string } }[]) =>
  Object.fromEntries(data.map((output) => [output.attributes.name, output]));

async function written() {
  const { owner } = fixture();
  const workspace = await newWorkspace(fixture());
  const { body } = await writeState(owner.api, workspace.id, stateFile({ outputs }));
  await waitFor(async () => (await owner.api.get(current(workspace.id))).status === 200);
  return { workspaceId: workspace.id as string, versionId: body.data.id as string };
}

test("every output has its name, type, detailed type and value in both lists", async () => {
  proves("Versioning/2021-08-18", "Outputs/of a version, of a workspace's current state");
  const { owner } = fixture();
  const { workspaceId, versionId } = await written();
  for (const path of [current(workspaceId), `/state-versions/${versionId}/outputs`]) {
    const { status, body } = await owner.api.get(path);
    expect(status).toBe(200);
    const found = byName(body.data);
    expect(Object.keys(found).toSorted()).toEqual(Object.keys(outputs).toSorted());
    for (const [name, [{ value, type }, shown]] of Object.entries(every)) {
      expect(found[name]).toMatchObject({
        id: expect.stringMatching(/^wsout-[A-Za-z0-9]{16}$/),
        type: "state-version-outputs",
        attributes: { name, sensitive: false, type: shown, "detailed-type": type, value },
      });
    }
    expect(body.meta.pagination["total-count"]).toBe(9);
  }
});

test("a sensitive value is null in includes and current outputs, and in clear when its version is read", async () => {
  proves(
    "State version includes/outputs, sensitive values null",
    "Outputs/sensitive",
    "Public clients/15",
  );
  const { owner, reader } = fixture();
  const { workspaceId, versionId } = await written();
  const lists = [
    await owner.api.get(current(workspaceId)),
    await owner.api.get(`/state-versions/${versionId}?include=outputs`),
    await owner.api.get(`/workspaces/${workspaceId}?include=outputs`),
  ];
  for (const answer of lists) {
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).not.toContain("hunter2");
  }
  const { secret } = byName(lists[0]?.body.data);
  expect(secret).toMatchObject({ attributes: { sensitive: true, value: null, type: "object" } });
  const clear = await owner.api.get(`/state-versions/${versionId}/outputs`);
  expect(byName(clear.body.data).secret).toMatchObject({
    attributes: { sensitive: true, value: { password: "hunter2" } },
  });
  expect((await reader.api.get(`/state-versions/${versionId}/outputs`)).status).toBe(404);
  const one = await owner.api.get(
    `/state-version-outputs/${(secret as unknown as { id: string }).id}`,
  );
  expect(one.status).toBe(200);
  expect(one.body.data.attributes.value).toEqual({ password: "hunter2" });
  expect(one.body.data.attributes.sensitive).toBe(true);
  const { id } = secret as unknown as { id: string };
  expect((await reader.api.get(`/state-version-outputs/${id}`)).status).toBe(404);
});

test("numbers keep every digit", async () => {
  proves("Outputs/numbers keep their digits");
  const { owner, url } = fixture();
  const workspace = await newWorkspace(fixture());
  const state = stateFile({ outputs: { big: { value: 0, type: "number" } } });
  const text = state.bytes.toString().replace('"value": 0', '"value": 12345678901234567890123.5');
  const bytes = Buffer.from(text);
  await writeState(owner.api, workspace.id, { ...state, bytes, md5: md5Of(bytes) });
  await waitFor(async () => (await owner.api.get(current(workspace.id))).status === 200);
  const raw = await fetch(`${url}/api/v2${current(workspace.id)}`, {
    headers: { authorization: `Bearer ${owner.token}` },
  });
  expect(await raw.text()).toContain("12345678901234567890123.5");
});

test("the outputs of a workspace without state are 200 and an empty list", async () => {
  proves("Outputs/an empty workspace");
  const { id } = await newWorkspace(fixture());
  const { status, body } = await fixture().owner.api.get(current(id));
  expect(status).toBe(200);
  expect(body.data).toEqual([]);
});

test("the outputs of the newest state are the current ones", async () => {
  proves("Outputs/of a version, of a workspace's current state");
  const { owner } = fixture();
  const workspace = await newWorkspace(fixture());
  const first = stateFile({ outputs: { a: { value: 1, type: "number" } } });
  await writeState(owner.api, workspace.id, first);
  const next = stateFile({
    serial: 2,
    lineage: first.lineage,
    outputs: { b: { value: 2, type: "number" } },
  });
  await writeState(owner.api, workspace.id, next);
  await waitFor(async () => (await owner.api.get(current(workspace.id))).status === 200);
  const { body } = await owner.api.get(current(workspace.id));
  expect(Object.keys(byName(body.data))).toEqual(["b"]);
});

describe("outputs in a create request", () => {
  const encoded = Buffer.from(
    JSON.stringify({ quick: { value: ["x"], type: ["list", "string"] } }),
  );

  test("are available immediately", async () => {
    proves("Versioning/2022-09-21", "State version creation/json-state-outputs");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const created = await owner.api.post(
      `/workspaces/${id}/state-versions`,
      inlineState(stateFile(), { "json-state-outputs": encoded.toString("base64") }),
    );
    expect(created.status).toBe(201);
    const { status, body } = await owner.api.get(current(id));
    expect(status).toBe(200);
    expect(body.data[0].attributes).toMatchObject({ name: "quick", value: ["x"], type: "array" });
  });

  test("are used for an encrypted state and remain after its extraction", async () => {
    proves("State version creation/json-state-outputs");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const bytes = Buffer.from('{"serial":1,"lineage":"l","meta":{},"encrypted_data":"Zm9v"}');
    const created = await owner.api.post(
      `/workspaces/${id}/state-versions`,
      inlineState(
        { serial: 1, lineage: "l", bytes, md5: md5Of(bytes) },
        { "json-state-outputs": encoded.toString("base64") },
      ),
    );
    await processedVersion(owner.api, created.body.data.id);
    expect((await owner.api.get(current(id))).body.data).toHaveLength(1);
  });
});

test("outputs of a large state return 503 with the text that clients retry on until extracted", async () => {
  proves("State version/resources-processed", "Outputs/an empty workspace");
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const state = stateFile({
    resources: 20_000,
    outputs: { late: { value: "there", type: "string" } },
  });
  const created = await owner.api.post(`/workspaces/${id}/state-versions`, announcement(state));
  const put = await fetch(created.body.data.attributes["hosted-state-upload-url"], {
    method: "PUT",
    body: Uint8Array.from(state.bytes),
  });
  expect(put.status).toBe(200);
  const lists = [current(id), `/state-versions/${created.body.data.id}/outputs`];
  for (const first of await Promise.all(lists.map((path) => owner.api.get(path)))) {
    expect(first.status).toBe(503);
    expect(first.body.errors[0].title).toBe("service unavailable");
    errorDetails(first);
  }
  const answer = await waitFor(async () => {
    const again = await owner.api.get(current(id));
    return again.status === 200 && again;
  });
  expect(answer.body.data[0].attributes.value).toBe("there");
});

test("outputs have pages", async () => {
  proves("Outputs/of a version, of a workspace's current state");
  const { owner } = fixture();
  const workspace = await newWorkspace(fixture());
  const many = Object.fromEntries(
    Array.from({ length: 45 }, (_, index) => [`o${index}`, { value: index, type: "number" }]),
  );
  const { body } = await writeState(owner.api, workspace.id, stateFile({ outputs: many }));
  await waitFor(async () => (await owner.api.get(current(workspace.id))).status === 200);
  for (const path of [current(workspace.id), `/state-versions/${body.data.id}/outputs`]) {
    const names = new Set<string>();
    for (const page of [1, 2, 3]) {
      const answer = await owner.api.get(`${path}?page[number]=${page}`);
      expect(answer.body.meta.pagination).toMatchObject({ "total-count": 45, "total-pages": 3 });
      for (const { attributes } of answer.body.data) names.add(attributes.name);
    }
    expect(names.size).toBe(45);
    expect((await owner.api.get(`${path}?page[size]=none`)).status).toBe(400);
  }
});

test("unknown and foreign outputs are not found", async () => {
  const { owner, outsider } = fixture();
  const { workspaceId, versionId } = await written();
  const { body } = await owner.api.get(current(workspaceId));
  for (const path of [
    current(workspaceId),
    `/state-versions/${versionId}/outputs`,
    `/state-version-outputs/${body.data[0].id}`,
  ]) {
    expect((await outsider.api.get(path)).status).toBe(404);
  }
  for (const path of [
    current("ws-0000000000000000"),
    "/state-versions/sv-0000000000000000/outputs",
    "/state-version-outputs/wsout-0000000000000000",
  ]) {
    expect((await owner.api.get(path)).status).toBe(404);
  }
});
