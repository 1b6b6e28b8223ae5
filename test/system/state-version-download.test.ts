import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { download } from "../stack/http.ts";
import { md5Of, processedVersion, stateFile, writeState } from "../stack/state.ts";
import { newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

const json = Buffer.from('{"format_version": "1.0"}');

async function written(projectId?: string) {
  const { owner } = fixture();
  const workspace = await newWorkspace(fixture(), {}, projectId);
  const state = stateFile({ marker: "only those who may read" });
  const { body } = await writeState(owner.api, workspace.id, state, {
    "json-state": json.toString("base64"),
  });
  const { attributes } = body.data;
  return {
    state,
    raw: attributes["hosted-state-download-url"] as string,
    json: attributes["hosted-json-state-download-url"] as string,
  };
}

test("a download returns the exact bytes repeatedly from the service's own address", async () => {
  proves(
    "State version/hosted-json-state-download-url",
    "State version/hosted-state-download-url",
    "State version creation/json-state",
  );
  const { owner, url } = fixture();
  const version = await written();
  for (let attempt = 0; attempt < 2; attempt++) {
    expect(version.raw).toMatch(`${url}/v1/object/`);
    expect((await download(version.raw, owner.token)).bytes.equals(version.state.bytes)).toBe(true);
    expect((await download(version.json, owner.token)).bytes.equals(json)).toBe(true);
  }
});

test("a download without a valid token returns 401", async () => {
  proves("State version/hosted-state-download-url");
  const version = await written();
  for (const url of [version.raw, version.json]) {
    for (const token of [undefined, "sth_wrong", ""]) {
      const answer = await download(url, token);
      expect(answer.status).toBe(401);
      expect(answer.bytes.toString()).not.toContain("only those");
    }
  }
});

test("a reader may download, a user without access gets 404", async () => {
  proves(
    "Authentication/8 list, fetch, show state versions",
    "State version/hosted-state-download-url",
  );
  const { reader, outsider, readable } = fixture();
  const version = await written(readable.id);
  const elsewhere = await written();
  expect((await download(version.raw, reader.token)).bytes.equals(version.state.bytes)).toBe(true);
  expect((await download(elsewhere.raw, reader.token)).status).toBe(404);
  expect((await download(version.raw, outsider.token)).status).toBe(404);
  expect((await download(version.json, outsider.token)).status).toBe(404);
});

test("unknown versions are not found", async () => {
  proves("State version/hosted-state-download-url");
  const { owner, url } = fixture();
  for (const path of ["sv-0000000000000000", "sv-0000000000000000/json", "sv-1/other", "x", ""]) {
    const { status } = await download(`${url}/v1/object/${path}`, owner.token);
    expect([404, 405], path).toContain(status);
  }
});

test("states of any bytes are returned unchanged: empty lines, Unicode, 3 MiB", async () => {
  proves("State version/hosted-state-download-url");
  const { owner } = fixture();
  for (const marker of ["Zoë ✓ 名前 \u0000 \u2028", "x".repeat(3 * 1024 * 1024)]) {
    const workspace = await newWorkspace(fixture());
    const state = stateFile({ marker });
    const { body } = await writeState(owner.api, workspace.id, state);
    const url = body.data.attributes["hosted-state-download-url"];
    expect(md5Of((await download(url, owner.token)).bytes)).toBe(state.md5);
  }
});

test("the JSON download URL is null for states of an engine below 1.3, even if the JSON form was uploaded", async () => {
  proves("State version/hosted-json-state-download-url");
  const { owner } = fixture();
  const urlFor = async (engineVersion: string) => {
    const workspace = await newWorkspace(fixture());
    const { body } = await writeState(owner.api, workspace.id, stateFile({ engineVersion }), {
      "json-state": json.toString("base64"),
    });
    const { attributes } = await processedVersion(owner.api, body.data.id);
    expect(attributes["engine-version"]).toBe(engineVersion);
    return attributes["hosted-json-state-download-url"];
  };
  for (const old of ["0.15.4", "1.2.9"]) expect(await urlFor(old)).toBeNull();
  for (const supported of ["1.3.0", "1.11.0", "2.0.0"]) {
    expect(await urlFor(supported)).toMatch(/\/v1\/object\/.*\/json$/);
  }
});
