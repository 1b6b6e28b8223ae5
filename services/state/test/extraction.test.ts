import { Readable } from "node:stream";
import { temporaryFolder, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startExtraction } from "../extraction/worker.ts";
import { listAsDeleted } from "../object/deleted-permanently-store.ts";
import { openDirectoryStore } from "../object/directory-store.ts";
import { newBlobKey } from "../object/key-domain.ts";
import type { BlobStore } from "../object/store.ts";
import { beginUpload, finishUpload } from "../state-version/upload-app.ts";
import { type RunningState, runState } from "./running-state.ts";

const never = new AbortController().signal;

const stack = new AsyncDisposableStack();
let state: RunningState;
let store: BlobStore;
beforeAll(async () => {
  state = stack.use(await runState());
  store = stack.use(await openDirectoryStore(stack.use(await temporaryFolder()).path));
});
afterAll(() => stack.disposeAsync());

/** Creates a finalized version with this content. */
async function uploaded(content: string): Promise<string> {
  const workspaceId = state.lockedWorkspace();
  const { stateVersion, internalUploadPath } = await state.create(workspaceId, content);
  const claims = state.app.uploadTokens.verify(
    internalUploadPath.split("/").at(-1) ?? "",
    new Date(),
  );
  if (!claims) throw new Error("the token is not valid");
  const { target } = await beginUpload(state.app, claims);
  const attemptStartedAt = new Date();
  const blobKey = newBlobKey({ ...claims, startedAt: attemptStartedAt });
  const body = Readable.from([Buffer.from(content)]);
  const stored = await store.put(blobKey, body, { size: Buffer.byteLength(content) }, never);
  await finishUpload(state.app, target, claims.kind, { ...stored, blobKey, attemptStartedAt });
  return stateVersion?.id ?? "";
}

const processed = (id: string) =>
  waitFor(async () => {
    const { stateVersion } = await state.versions.getStateVersion({ id });
    return stateVersion?.resourcesProcessed && stateVersion;
  });

describe("extraction", () => {
  it("extracts outputs and resources of states uploaded before and after its start", async () => {
    proves("State version/modules, providers, resources");
    const content = JSON.stringify({
      version: 4,
      terraform_version: "1.11.0",
      serial: 1,
      resources: [
        { mode: "managed", type: "null_resource", name: "a", provider: "p", instances: [{}, {}] },
      ],
      outputs: { secret: { value: "s3cret", type: "string", sensitive: true } },
    });
    const before = await uploaded(content);
    await using _ = startExtraction(state.app, store);
    const after = await uploaded(content);
    for (const id of [before, after]) {
      const version = await processed(id);
      expect(version).toMatchObject({ engineVersion: "1.11.0", formatVersion: 4 });
      expect(JSON.parse(version.resourcesJson)).toMatchObject([
        { name: "a", count: 2, module: "root" },
      ]);
      expect(JSON.parse(version.modulesJson)).toEqual({ root: { "null-resource": 2 } });
      const { outputs } = await state.outputs.listStateVersionOutputs({
        stateVersionId: id,
        pageSize: 20,
        pageNumber: 1,
      });
      expect(outputs).toMatchObject([{ name: "secret", sensitive: true, type: "string" }]);
    }
  });

  it("gives up an unreadable state", async () => {
    proves("Extraction/a poisonous file ends as processed, with a reason");
    const encrypted = await uploaded(JSON.stringify({ serial: 1, encrypted_data: "x" }));
    const broken = await uploaded("no state at all");
    await using _ = startExtraction(state.app, store, { intervalMs: 20 });
    expect(await processed(encrypted)).toMatchObject({ resourcesJson: "[]" });
    // Advances the clock, so that the pauses between attempts are skipped.
    const hurry = setInterval(() => state.pass(60_000), 50);
    try {
      expect(await processed(broken)).toMatchObject({ resourcesJson: "[]" });
    } finally {
      clearInterval(hurry);
    }
  });

  it("retries while the bytes cannot be loaded", async () => {
    proves("Extraction/retried while the store is away");
    const id = await uploaded(JSON.stringify({ version: 4 }));
    const failing: BlobStore = {
      ...store,
      get: async (key, open, signal) => {
        if (--failures >= 0) throw new Error("the disk is unavailable");
        await store.get(key, open, signal);
      },
    };
    let failures = 6;
    const hurry = setInterval(() => state.pass(60_000), 50);
    try {
      await using _ = startExtraction(state.app, failing, { intervalMs: 20 });
      expect(await processed(id)).toMatchObject({ formatVersion: 4 });
      expect(failures).toBeLessThan(0);
    } finally {
      clearInterval(hurry);
    }
  });

  it("gives up a state that was deleted permanently after the backup of a restored database", async () => {
    const id = await uploaded(JSON.stringify({ version: 4 }));
    const [row] = await state.database.query<{ blob_key: string }>(
      "select blob_key from state_versions where id = $1",
      [id],
    );
    const key = row?.blob_key ?? "";
    await listAsDeleted(store, [key], new Date());
    await store.delete([key]);
    const hurry = setInterval(() => state.pass(60_000), 50);
    try {
      await using _ = startExtraction(state.app, store, { intervalMs: 20 });
      expect(await processed(id)).toMatchObject({ resourcesJson: "[]" });
    } finally {
      clearInterval(hurry);
    }
  });

  it("is shared by two replicas", async () => {
    proves("Extraction/idempotent, claimed once, taken over from a killed reader");
    const contents = Array.from({ length: 8 }, (_, serial) =>
      JSON.stringify({ version: 4, serial }),
    );
    const ids = await Promise.all(contents.map(uploaded));
    await using _one = startExtraction(state.app, store);
    await using _two = startExtraction(state.app, store);
    const found = await Promise.all(ids.map(processed));
    expect(found.map(({ formatVersion }) => formatVersion)).toEqual(ids.map(() => 4));
    const events = await Promise.all(found.map(({ workspaceId }) => state.events(workspaceId)));
    for (const types of events) {
      expect(types.filter((type) => type === "state-version.processed")).toHaveLength(1);
    }
  });
});
