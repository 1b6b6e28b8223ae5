import { open, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { forEachConcurrently, makeFolder } from "@statehouse/runtime";
import type { WorkspaceId } from "../ids-domain.ts";
import { isBlobMissing } from "../object/errors-store.ts";
import { digestsOf, withStoreRetry } from "../object/reading-store.ts";
import type { BlobStore, StoredBlob } from "../object/store.ts";
import { createStatePaths, safeFileName } from "./file-name-domain.ts";
import type { CurrentState, CurrentStateReads } from "./store.ts";

/** The names of a workspace and of its organization. */
export interface WorkspaceName {
  organizationId: string;
  organization: string;
  workspace: string;
}

export interface StateExport {
  states: CurrentStateReads;
  store: BlobStore;
  /** The folder to write to; must be empty. */
  folder: string;
  /** Returns the names of these workspaces by workspace id; unknown ids are omitted. */
  namesOf(ids: readonly WorkspaceId[]): Promise<ReadonlyMap<string, WorkspaceName>>;
  onProgress(states: number): void;
  signal: AbortSignal;
}

/** The reasons why a state was not exported, with the texts that operators read. */
export const exportProblems = {
  missing: "the bytes are missing in the store",
  content: "the size, md5 or sha256 of the bytes in the store differs from the row",
  unreadable: "the bytes cannot be read",
} as const;

export interface UnexportedState {
  workspaceId: WorkspaceId;
  versionId: string;
  key: string;
  problem: keyof typeof exportProblems;
}

export interface ExportedStates {
  states: number;
  bytes: number;
  problems: UnexportedState[];
}

const BATCH = 500;
const AT_ONCE = 4;
/**
 * Folder for workspaces whose names are unknown. Cannot equal an organization's folder, because no safe file name
 * contains `~`.
 */
const UNKNOWN = "~unknown";
const MANIFEST = "manifest.json";

/**
 * Writes every current state as `organization/workspace.tfstate`, and then the manifest. A state is written only if all
 * its bytes can be read and match the digests of its row. Throws if the store or the database does not respond.
 */
export async function exportStates(options: StateExport): Promise<ExportedStates> {
  const { states, namesOf, folder, signal, onProgress } = options;
  const exported: ExportedStates = { states: 0, bytes: 0, problems: [] };
  const entries: { file: string }[] = [];
  const createdAt = new Date().toISOString();
  const pathOf = createStatePaths();
  for (let after = ""; ; ) {
    const batch = await states.listAfter(after, BATCH);
    const last = batch.at(-1);
    if (!last) break;
    after = last.workspaceId;
    const names = await namesOf(batch.map(({ workspaceId }) => workspaceId));
    const placed = batch.map((state) => ({ state, ...placeOf(state, names, pathOf) }));
    await forEachConcurrently(AT_ONCE, placed, async ({ state, name, file }) => {
      signal.throwIfAborted();
      const problem = await writeState(options, state, path.join(folder, file));
      onProgress(1);
      const { workspaceId, versionId, key, size } = state;
      if (problem) {
        exported.problems.push({ workspaceId, versionId, key, problem });
        return;
      }
      entries.push(entryOf(state, name, file));
      exported.states++;
      exported.bytes += size;
    });
  }
  entries.sort((a, b) => (a.file < b.file ? -1 : 1));
  const manifest = { createdAt, states: entries, problems: exported.problems };
  await writeFile(path.join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
    mode: 0o600,
  });
  return exported;
}

function placeOf(
  { workspaceId: id }: CurrentState,
  names: ReadonlyMap<string, WorkspaceName>,
  pathOf: ReturnType<typeof createStatePaths>,
): { name: WorkspaceName | undefined; file: string } {
  const name = names.get(id);
  const folder = name ? safeFileName(name.organization) : UNKNOWN;
  return { name, file: pathOf({ folder, name: name?.workspace ?? id, id }) };
}

const entryOf = (state: CurrentState, name: WorkspaceName | undefined, file: string) => ({
  file,
  organization: name?.organization ?? null,
  organizationId: name?.organizationId ?? null,
  workspace: name?.workspace ?? null,
  workspaceId: state.workspaceId,
  stateVersionId: state.versionId,
  serial: state.serial,
  lineage: state.lineage,
  size: state.size,
  sha256: state.sha256,
  md5: state.md5,
  createdAt: state.createdAt.toISOString(),
});

async function writeState(
  { store, signal }: StateExport,
  { key, size, sha256, md5 }: CurrentState,
  file: string,
): Promise<UnexportedState["problem"] | undefined> {
  await makeFolder(path.dirname(file), 0o700);
  const part = `${file}.part`;
  try {
    const found = await withStoreRetry(signal, () => copyTo(store, key, part, signal));
    if (found.size !== size || found.sha256 !== sha256 || found.md5 !== md5) return "content";
    await rename(part, file);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (isBlobMissing(error)) return "missing";
    // Throws if the whole store is unavailable. Otherwise only these bytes are unreadable.
    await store.ready();
    return "unreadable";
  } finally {
    await rm(part, { force: true });
  }
}

/** Copies the bytes to a file, and returns their digests after the file is synced to disk. */
async function copyTo(
  store: BlobStore,
  key: string,
  part: string,
  signal: AbortSignal,
): Promise<StoredBlob> {
  await using file = await open(part, "w", 0o600);
  const digests = await digestsOf(store, key, signal, file);
  await file.sync();
  return digests;
}
