import { request } from "node:http";
import { needs, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import type { BlobKind } from "../stack/blobs.ts";
import { download, upload } from "../stack/http.ts";
import { startStack } from "../stack/stack.ts";
import { announcement, inlineState, type StateFile, stateFile } from "../stack/state.ts";
import { errorDetails, newLockedWorkspace, newWorkspace, useFixture, useStack } from "./fixture.ts";

const MAX_STATE_BYTES = 300_000;

describe("with state bytes in a folder", () => uploads("directory"));
needs("minio")("state bytes in MinIO", () => uploads("minio"));

function uploads(blobs: BlobKind): void {
  const fixture = useStack(() =>
    startStack({
      blobs,
      settings: { MAX_STATE_BYTES: String(MAX_STATE_BYTES), MAX_BODY_BYTES: "1000000" },
    }),
  );

  /** Creates a pending version; returns it with its upload URLs. */
  async function pending(state: StateFile = stateFile()) {
    const { owner } = fixture();
    const workspace = await newLockedWorkspace(fixture());
    const path = `/workspaces/${workspace.id}/state-versions`;
    const { status, body } = await owner.api.post(path, announcement(state));
    expect(status).toBe(201);
    const { attributes, id } = body.data;
    return {
      state,
      workspaceId: workspace.id as string,
      id: id as string,
      raw: attributes["hosted-state-upload-url"] as string,
      json: attributes["hosted-json-state-upload-url"] as string,
    };
  }
  const attributesOf = async (id: string) =>
    (await fixture().owner.api.get(`/state-versions/${id}`)).body.data.attributes;

  test("a version without state is pending and has upload URLs", async () => {
    proves(
      "State version/hosted-state-upload-url",
      "State version creation/state: omitted, it is",
      "State version status/(none), create without state",
    );
    const { id, raw, json } = await pending();
    for (const url of [raw, json]) expect(url).toMatch(`${fixture().url}/v1/object/`);
    expect(raw).not.toBe(json);
    const attributes = await attributesOf(id);
    expect(attributes).toMatchObject({
      status: "pending",
      "hosted-state-upload-url": raw,
      "hosted-state-download-url": null,
      "hosted-json-state-download-url": null,
      "resources-processed": false,
    });
  });

  test("the raw state finalizes the version; its URL is hidden, and its bytes are returned exactly", async () => {
    proves(
      "State version/hosted-state-upload-url",
      "State version status/pending, upload",
      "Upload/PUT without a token",
    );
    const { owner } = fixture();
    const { state, id, raw, workspaceId } = await pending();
    expect((await upload(raw, state.bytes)).status).toBe(200);
    const attributes = await attributesOf(id);
    expect(attributes).toMatchObject({ status: "finalized", "hosted-state-upload-url": null });
    expect(attributes["hosted-json-state-upload-url"]).toMatch(/^http/);
    const got = await download(attributes["hosted-state-download-url"], owner.token);
    expect(got.bytes.equals(state.bytes)).toBe(true);
    const current = await owner.api.get(`/workspaces/${workspaceId}/current-state-version`);
    expect(current.body.data.id).toBe(id);
  });

  const json = Buffer.from('{"format_version":"1.0", "values" : {}}\n');
  test.each([
    ["raw, then JSON", ["raw", "json"]],
    ["JSON, then raw", ["json", "raw"]],
  ] as const)("both contents are accepted: %s", async (_, order) => {
    const { owner } = fixture();
    const version = await pending();
    for (const kind of order) {
      const bytes = kind === "raw" ? version.state.bytes : json;
      expect((await upload(version[kind], bytes)).status).toBe(200);
    }
    const attributes = await attributesOf(version.id);
    expect(attributes).toMatchObject({
      status: "finalized",
      "hosted-state-upload-url": null,
      "hosted-json-state-upload-url": null,
    });
    const raw = await download(attributes["hosted-state-download-url"], owner.token);
    expect(raw.bytes.equals(version.state.bytes)).toBe(true);
    const shown = await download(attributes["hosted-json-state-download-url"], owner.token);
    expect(shown.bytes.equals(json)).toBe(true);
  });

  test("both contents are accepted concurrently", async () => {
    proves("State version/hosted-json-state-upload-url", "Upload/raw and JSON in");
    for (let round = 0; round < 5; round++) {
      const version = await pending();
      const answers = await Promise.all([
        upload(version.raw, version.state.bytes),
        upload(version.json, json),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await attributesOf(version.id)).status).toBe("finalized");
    }
  });

  test("the same bytes again return 200 and change nothing, others return 409", async () => {
    proves(
      "State version/hosted-json-state-upload-url",
      "Upload/the same bytes again 200, other bytes 409",
      "State limits/one upload for each URL, raw and JSON",
    );
    const { owner } = fixture();
    const version = await pending();
    await upload(version.raw, version.state.bytes);
    await upload(version.json, json);
    const before = await attributesOf(version.id);
    expect((await upload(version.raw, version.state.bytes)).status).toBe(200);
    expect((await upload(version.json, json)).status).toBe(200);
    const longer = Buffer.concat([version.state.bytes, Buffer.from(" ")]);
    const other = Buffer.from(version.state.bytes).fill("x", 10, 20);
    for (const bytes of [longer, other]) {
      for (const url of [version.raw, version.json]) {
        const refused = await upload(url, bytes);
        expect(refused.status).toBe(409);
        errorDetails(refused);
      }
    }
    const after = await attributesOf(version.id);
    expect({ ...after, "resources-processed": true }).toMatchObject({
      md5: before.md5,
      size: before.size,
      status: "finalized",
    });
    const got = await download(after["hosted-state-download-url"], owner.token);
    expect(got.bytes.equals(version.state.bytes)).toBe(true);
  });

  test("concurrent uploads store exactly one complete content", async () => {
    proves("Upload/raw and JSON in");
    const version = await pending();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => upload(version.raw, version.state.bytes)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const contents = Array.from({ length: 6 }, (_, index) => `{"content":${index}}`);
    const raced = await Promise.all(contents.map((content) => upload(version.json, content)));
    const won = contents.filter((_, index) => raced[index]?.status === 200);
    expect(won).toHaveLength(1);
    const attributes = await attributesOf(version.id);
    const got = await download(attributes["hosted-json-state-download-url"], fixture().owner.token);
    expect(got.bytes.toString()).toBe(won[0]);
  });

  test("bytes with another md5 return 409, nothing is stored, and the URL remains usable", async () => {
    proves("State version creation/md5: other bytes are");
    const { owner } = fixture();
    const { state, id, raw, workspaceId } = await pending();
    const wrong = Buffer.from(state.bytes).fill("x", 10, 20);
    const refused = await upload(raw, wrong);
    expect(refused.status).toBe(409);
    expect(errorDetails(refused)[0]).toMatch(/md5/);
    expect((await attributesOf(id)).status).toBe("pending");
    expect((await owner.api.get(`/workspaces/${workspaceId}/current-state-version`)).status).toBe(
      404,
    );
    expect((await upload(raw, state.bytes)).status).toBe(200);
    const got = await download((await attributesOf(id))["hosted-state-download-url"], owner.token);
    expect(got.bytes.equals(state.bytes)).toBe(true);
  });

  test("an interrupted upload stores nothing, and the URL remains usable", async () => {
    proves("Upload/a failed upload leaves the URL usable");
    const { state, id, raw } = await pending();
    await new Promise<void>((resolve) => {
      const put = request(raw, {
        method: "PUT",
        headers: {
          "content-length": state.bytes.length,
          "content-type": "application/octet-stream",
        },
      });
      put.on("error", () => resolve());
      put.on("close", () => resolve());
      put.write(state.bytes.subarray(0, 100), () => put.destroy());
    });
    expect((await attributesOf(id)).status).toBe("pending");
    expect((await upload(raw, state.bytes)).status).toBe(200);
    expect((await attributesOf(id)).status).toBe("finalized");
  });

  test("a content over the limit returns 413 before it is read, and one without a length 411", async () => {
    proves("Upload/without length 411, without");
    const { state, id, raw } = await pending();
    const large = await upload(raw, Buffer.alloc(MAX_STATE_BYTES + 1, "x"));
    expect(large.status).toBe(413);
    errorDetails(large);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Uint8Array.from(state.bytes));
        controller.close();
      },
    });
    const unknown = await fetch(raw, {
      method: "PUT",
      body: stream,
      duplex: "half",
    } as RequestInit);
    expect(unknown.status).toBe(411);
    expect((await attributesOf(id)).status).toBe("pending");
    expect((await upload(raw, state.bytes)).status).toBe(200);
  });

  test("inline state over the limits is refused, as a body and as a state", async () => {
    proves("State version creation/state: optional Base64; given");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const path = `/workspaces/${id}/state-versions`;
    const tooLarge = stateFile({ marker: "x".repeat(MAX_STATE_BYTES) });
    const refused = await owner.api.post(path, inlineState(tooLarge));
    expect(refused.status).toBe(422);
    expect(refused.body.errors).toMatchObject([
      {
        source: { pointer: "/data/attributes/state" },
        detail: `State is too large (maximum is ${MAX_STATE_BYTES} bytes)`,
      },
    ]);
    const muchTooLarge = stateFile({ marker: "x".repeat(1_000_000) });
    expect((await owner.api.post(path, inlineState(muchTooLarge))).status).toBe(413);
    // The state is small enough but its JSON form is too large, so no version is created.
    const tooLargeJson = Buffer.alloc(MAX_STATE_BYTES + 1, "x").toString("base64");
    const half = await owner.api.post(
      path,
      inlineState(stateFile(), { "json-state": tooLargeJson }),
    );
    expect(half.status).toBe(422);
    expect(half.body.errors).toMatchObject([
      {
        source: { pointer: "/data/attributes/json-state" },
        detail: `JSON state is too large (maximum is ${MAX_STATE_BYTES} bytes)`,
      },
    ]);
    // A refused request reserves neither serial nor lineage.
    expect((await owner.api.post(path, inlineState(stateFile()))).status).toBe(201);
  });

  test("an altered or invented upload token is refused", async () => {
    proves("Upload/PUT without a token");
    const { state, raw, json: jsonUrl, id } = await pending();
    const [, token = ""] = raw.split("/v1/object/");
    const [key = "", payload = "", signature = ""] = token.split(".");
    const claims = Buffer.from(payload, "base64url").toString();
    const other = await pending();
    const [, otherToken = ""] = other.raw.split("/v1/object/");
    const forged = [
      `${token}x`,
      token.slice(0, -2),
      `${key}.${Buffer.from(claims.replace("raw", "json")).toString("base64url")}.${signature}`,
      `${key}.${otherToken.split(".")[1]}.${signature}`,
      `${key}.${payload}.`,
      `${key}.${payload}`,
      `none.${payload}.${signature}`,
      "x",
      `sv-${"0".repeat(16)}.${payload}.${signature}`,
    ];
    for (const text of forged) {
      const answer = await upload(`${fixture().url}/v1/object/${text}`, state.bytes);
      expect(answer.status, text).toBe(404);
      errorDetails(answer);
    }
    for (const method of ["GET", "POST", "DELETE"]) {
      const { status } = await fetch(raw, { method });
      expect([404, 405], method).toContain(status);
    }
    expect((await attributesOf(id)).status).toBe("pending");
    expect((await upload(jsonUrl, json)).status).toBe(200);
  });

  test("upload URLs are shown only to callers who may write", async () => {
    proves("State version/hosted-state-upload-url");
    const { owner, reader, readable } = fixture();
    const { id } = await newWorkspace(fixture(), {}, readable.id);
    await owner.api.post(`/workspaces/${id}/actions/lock`);
    const created = await owner.api.post(
      `/workspaces/${id}/state-versions`,
      announcement(stateFile()),
    );
    const read = await reader.api.get(`/state-versions/${created.body.data.id}`);
    expect(read.status).toBe(200);
    expect(read.body.data.attributes).toMatchObject({
      "hosted-state-upload-url": null,
      "hosted-json-state-upload-url": null,
    });
  });
}

describe("after the pending window", () => {
  const fixture = useStack(() => startStack({ settings: { PENDING_WINDOW: "6" } }));

  test("the upload URL is refused, the version is discarded, and unlocking works again", async () => {
    proves("Upload/ends with the pending");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile();
    const created = await owner.api.post(`/workspaces/${id}/state-versions`, announcement(state));
    const { attributes } = created.body.data;
    expect((await owner.api.post(`/workspaces/${id}/actions/unlock`)).status).toBe(503);
    await waitFor(async () => {
      const shown = await owner.api.get(`/state-versions/${created.body.data.id}`);
      return shown.body.data.attributes.status === "discarded";
    });
    for (const name of ["hosted-state-upload-url", "hosted-json-state-upload-url"]) {
      expect((await upload(attributes[name], state.bytes)).status).toBe(404);
    }
    expect((await owner.api.post(`/workspaces/${id}/actions/unlock`)).status).toBe(200);
  });

  test("a repeat of the create request with the JSON form of a finalized version returns 409", async () => {
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile();
    const path = `/workspaces/${id}/state-versions`;
    const created = await owner.api.post(path, inlineState(state));
    expect(created.body.data.attributes.status).toBe("finalized");
    await waitFor(async () => {
      const shown = await owner.api.get(`/state-versions/${created.body.data.id}`);
      return shown.body.data.attributes["hosted-json-state-upload-url"] === null;
    });
    const json = Buffer.from("{}").toString("base64");
    const repeat = await owner.api.post(path, inlineState(state, { "json-state": json }));
    expect(repeat.status).toBe(409);
    expect(repeat.body.errors[0].code).toBe("state_not_taken");
  });
});

describe("a token signed by another installation", () => {
  const fixture = useFixture();
  const elsewhere = useStack(() => startStack());

  test("is refused", async () => {
    proves("Upload/PUT without a token");
    const { owner } = elsewhere();
    const { id } = await newLockedWorkspace(elsewhere());
    const state = stateFile();
    const created = await owner.api.post(`/workspaces/${id}/state-versions`, announcement(state));
    const foreign: string = created.body.data.attributes["hosted-state-upload-url"];
    const here = foreign.replace(elsewhere().url, fixture().url);
    expect((await upload(here, state.bytes)).status).toBe(404);
    expect((await upload(foreign, state.bytes)).status).toBe(200);
  });
});
