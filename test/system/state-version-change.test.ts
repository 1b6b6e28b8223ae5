import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  announcement,
  processedVersion,
  type StateFile,
  stateFile,
  writeState,
} from "../stack/state.ts";
import { errorDetails, newLockedWorkspace, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

/** Returns a state with these instances of managed resources and these outputs. */
function stateWith(
  serial: number,
  lineage: string,
  instances: Record<string, string>,
  outputs: Record<string, { value: string; sensitive?: boolean }>,
): StateFile {
  const content = {
    version: 4,
    terraform_version: "1.11.0",
    serial,
    lineage,
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([name, output]) => [name, { type: "string", ...output }]),
    ),
    resources: Object.entries(instances).map(([name, input]) => ({
      mode: "managed",
      type: "terraform_data",
      name,
      provider: 'provider["terraform.io/builtin/terraform"]',
      instances: [{ schema_version: 0, attributes: { id: name, input } }],
    })),
    check_results: null,
  };
  const bytes = Buffer.from(JSON.stringify(content));
  return { serial, lineage, bytes, md5: createHash("md5").update(bytes).digest("hex") };
}

const changes = (id: string, since: string, by = fixture().owner) =>
  by.api.get(`/state-versions/${id}/changes?filter[since]=${since}`);

/** Creates two versions of a workspace in the readable project; returns their ids. */
async function twoVersions() {
  const { owner, readable } = fixture();
  const workspace = await newWorkspace(fixture(), {}, readable.id);
  const { lineage } = stateFile();
  const write = async (state: StateFile): Promise<string> => {
    const { body } = await writeState(owner.api, workspace.id, state);
    await processedVersion(owner.api, body.data.id);
    return body.data.id;
  };
  const before = await write(
    stateWith(
      1,
      lineage,
      { kept: "a", altered: "secret-one", gone: "c" },
      {
        region: { value: "eu-1" },
        password: { value: "secret-two", sensitive: true },
        old: { value: "x" },
      },
    ),
  );
  const after = await write(
    stateWith(
      2,
      lineage,
      { kept: "a", altered: "secret-three", made: "d" },
      {
        region: { value: "eu-1" },
        password: { value: "secret-four", sensitive: true },
        fresh: { value: "y" },
      },
    ),
  );
  return { before, after, workspace };
}

test("resources and outputs that were added, changed and removed are named by address and name, without values", async () => {
  const { before, after } = await twoVersions();
  const { status, body } = await changes(after, before);
  expect(status).toBe(200);
  expect(body.data).toEqual({
    id: `${after}:${before}`,
    type: "state-version-changes",
    attributes: {
      resources: {
        added: ["terraform_data.made"],
        changed: ["terraform_data.altered"],
        removed: ["terraform_data.gone"],
      },
      "resource-counts": { added: 1, changed: 1, removed: 1 },
      outputs: {
        added: [{ name: "fresh", sensitive: false }],
        changed: [{ name: "password", sensitive: true }],
        removed: [{ name: "old", sensitive: false }],
      },
    },
    relationships: {
      "state-version": { data: { type: "state-versions", id: after } },
      since: { data: { type: "state-versions", id: before } },
    },
  });
  expect(JSON.stringify(body)).not.toContain("secret-");
  const backwards = (await changes(before, after)).body.data.attributes;
  expect(backwards.resources).toMatchObject({
    added: ["terraform_data.gone"],
    removed: ["terraform_data.made"],
  });
  const itself = (await changes(after, after)).body.data.attributes;
  expect(itself["resource-counts"]).toEqual({ added: 0, changed: 0, removed: 0 });
});

test("versions are compared for those who may read them, and within one workspace only", async () => {
  const { reader, outsider, owner } = fixture();
  const { before, after } = await twoVersions();
  expect((await changes(after, before, reader)).status).toBe(200);
  expect((await changes(after, before, outsider)).status).toBe(404);
  const elsewhere = await newWorkspace(fixture());
  const other = await writeState(owner.api, elsewhere.id, stateFile());
  expect((await changes(after, other.body.data.id)).status).toBe(404);
  expect((await changes(after, "sv-0000000000000000")).status).toBe(404);
  expect((await owner.api.get(`/state-versions/${after}/changes`)).status).toBe(400);
});

test("versions without digests cannot be compared: 409 with the reason", async () => {
  const { owner, stack } = fixture();
  const { before, after } = await twoVersions();
  const reason = async (id: string, since: string) => {
    const answer = await changes(id, since);
    expect(answer.status).toBe(409);
    return errorDetails(answer)[0];
  };
  const { id } = await newLockedWorkspace(fixture());
  const pending = await owner.api.post(
    `/workspaces/${id}/state-versions`,
    announcement(stateFile()),
  );
  const pendingId = pending.body.data.id;
  expect(await reason(pendingId, pendingId)).toBe(
    `State version ${pendingId} has not been processed yet.`,
  );
  await stack.rows(
    "state",
    "update state_version_digests set key_id = 'another' where state_version_id = $1",
    [before],
  );
  expect(await reason(after, before)).toBe(
    "The two state versions cannot be compared: their digests were computed with different keys.",
  );
  await stack.rows("state", "delete from state_version_digests where state_version_id = $1", [
    before,
  ]);
  expect(await reason(after, before)).toBe(
    `State version ${before} cannot be compared: it has no digests.`,
  );
  await stack.rows("state", "update state_versions set extraction_error = 'x' where id = $1", [
    before,
  ]);
  expect(await reason(after, before)).toBe(
    `State version ${before} cannot be read; it may be encrypted.`,
  );
  await owner.api.post(`/state-versions/${before}/actions/soft_delete_backing_data`);
  expect(await reason(after, before)).toBe(
    `The contents of state version ${before} have been deleted.`,
  );
});
