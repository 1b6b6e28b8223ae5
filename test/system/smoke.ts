import { expect } from "vitest";
import { download, upload } from "../stack/http.ts";
import { announcement, expectStatus, stateFile } from "../stack/state.ts";
import { type Fixture, newWorkspace } from "./fixture.ts";

/** Values that the smoke test writes; they may appear only in the state itself. */
export const smokeMarkers = { state: "smoke-marker-in-state", output: "smoke-sensitive-output" };

/**
 * Takes one workspace from its creation to its deletion; returns the created objects. `headers` are sent with the
 * request that creates the state version and with the first upload.
 */
export async function smoke(
  fixture: Fixture,
  headers: Record<string, string> = {},
): Promise<{ workspaceId: string; stateVersionId: string }> {
  const { api, token } = fixture.owner;
  const { id } = await newWorkspace(fixture);
  await expectStatus(200, api.post(`/workspaces/${id}/actions/lock`, { reason: "smoke" }));
  const outputs = {
    text: { value: "hello", type: "string" },
    secret: { value: smokeMarkers.output, type: "string", sensitive: true },
  };
  const state = stateFile({ marker: smokeMarkers.state, outputs });
  const encoded = Buffer.from(JSON.stringify(outputs)).toString("base64");
  const created = await expectStatus(
    201,
    api.send(
      "POST",
      `/workspaces/${id}/state-versions`,
      announcement(state, { "json-state-outputs": encoded }),
      headers,
    ),
  );
  const version = created.body.data;
  await expectStatus(503, api.post(`/workspaces/${id}/actions/unlock`));
  const put = version.attributes["hosted-state-upload-url"];
  await expectStatus(200, upload(put, state.bytes, headers));
  await expectStatus(200, upload(put, state.bytes));
  await expectStatus(200, api.post(`/workspaces/${id}/actions/unlock`));
  const current = await expectStatus(200, api.get(`/workspaces/${id}/current-state-version`));
  const url = current.body.data.attributes["hosted-state-download-url"];
  expect((await download(url, token)).bytes.equals(state.bytes)).toBe(true);
  const listed = await expectStatus(
    200,
    api.get(`/workspaces/${id}/current-state-version-outputs`),
  );
  expect(listed.body.data).toHaveLength(2);
  const secret = listed.body.data.find(
    ({ attributes }: { attributes: { sensitive: boolean } }) => attributes.sensitive,
  );
  expect(secret.attributes.value).toBeNull();
  const clear = await expectStatus(200, api.get(`/state-version-outputs/${secret.id}`));
  expect(clear.body.data.attributes.value).toBe(smokeMarkers.output);
  await expectStatus(204, api.delete(`/workspaces/${id}`));
  await expectStatus(404, api.get(`/workspaces/${id}`));
  expect((await download(url, token)).status).toBe(404);
  return { workspaceId: id, stateVersionId: version.id };
}
