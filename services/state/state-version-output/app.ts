import type { Caller } from "@statehouse/authorization";
import type { Page, PageInput } from "@statehouse/postgres";
import type { App } from "../app.ts";
import { outputsNotProcessed, stateVersionNotFound } from "../errors-domain.ts";
import type { StateVersionId, StateVersionOutputId, WorkspaceId } from "../ids-domain.ts";
import { authorizeRead, readableOf } from "../state-access-app.ts";
import { isDeleted, outputsAreKnown, type StoredVersion } from "../state-version/domain.ts";
import { recordOutputs } from "../state-version/reading-app.ts";
import { placeWorkspace } from "../workspace-placement/app.ts";
import type { StateVersionOutput } from "./domain.ts";
import type { OutputWithTarget } from "./store.ts";

/**
 * Returns a version's outputs with their values, even if they are sensitive. Throws `outputsNotProcessed` if extraction
 * has not stored them yet, and `notFound` if they were deleted with the version's other data.
 */
export async function listStateVersionOutputs(
  app: App,
  caller: Caller,
  { stateVersionId, page }: { stateVersionId: StateVersionId; page: PageInput },
): Promise<Page<StateVersionOutput>> {
  const version = await app.reads.stateVersions.getStored(stateVersionId);
  await authorizeRead(app, caller, "state:read-outputs", version, "state version");
  if (isDeleted(version)) throw stateVersionNotFound();
  requireKnownOutputs(version);
  return recorded(app, version, await app.reads.stateVersionOutputs.list(version.id, page));
}

/** Returns one output with its value, even if it is sensitive. */
export async function getStateVersionOutput(
  app: App,
  caller: Caller,
  id: StateVersionOutputId,
): Promise<StateVersionOutput> {
  const output = await app.reads.stateVersionOutputs.get(id);
  await authorizeRead(app, caller, "state:read-outputs", output, "state version output");
  await recordOutputs(app, [output]);
  return output;
}

/**
 * Returns the outputs of the workspace's current version; an empty page if there is no current version. The values of
 * sensitive outputs are withheld. Throws `outputsNotProcessed` if extraction has not stored the outputs yet.
 */
export async function listCurrentOutputs(
  app: App,
  caller: Caller,
  { workspaceId, page }: { workspaceId: WorkspaceId; page: PageInput },
): Promise<Page<StateVersionOutput>> {
  const known = await app.reads.stateVersionOutputs.findCurrent(workspaceId, page);
  const target = await placeWorkspace(app, workspaceId, known?.workspaceState);
  await authorizeRead(app, caller, "state:read-outputs", target);
  if (!known?.current) return { rows: [], total: 0 };
  const { version, outputs } = known.current;
  requireKnownOutputs(version);
  return recorded(app, version, outputs);
}

/** Returns the outputs of the given versions, except versions whose outputs the caller is not allowed to read. */
export const batchListStateVersionOutputs = async (
  app: App,
  caller: Caller,
  ids: readonly StateVersionId[],
): Promise<StateVersionOutput[]> =>
  ids.length === 0
    ? []
    : readableOutputs(app, caller, await app.reads.stateVersionOutputs.listOfVersions(ids));

/**
 * Returns the outputs of the workspaces' current versions, except workspaces whose outputs the caller is not allowed to
 * read.
 */
export const batchListCurrentOutputs = async (
  app: App,
  caller: Caller,
  ids: readonly WorkspaceId[],
): Promise<StateVersionOutput[]> =>
  ids.length === 0
    ? []
    : readableOutputs(app, caller, await app.reads.stateVersionOutputs.listOfWorkspaces(ids));

async function readableOutputs(
  app: App,
  caller: Caller,
  outputs: readonly OutputWithTarget[],
): Promise<StateVersionOutput[]> {
  const readable = await readableOf(app, caller, "state:read-outputs", outputs);
  await recordOutputs(app, readable);
  return readable;
}

/** Throws `outputsNotProcessed` if extraction has not stored the version's outputs yet. */
function requireKnownOutputs(version: StoredVersion): void {
  if (version.status === "finalized" && !outputsAreKnown(version)) throw outputsNotProcessed();
}

/** Records that the current actor reads these outputs of the version, and returns them. */
async function recorded(
  app: App,
  { organizationId }: StoredVersion,
  outputs: Page<StateVersionOutput>,
): Promise<Page<StateVersionOutput>> {
  await recordOutputs(
    app,
    outputs.rows.map((output) => ({ ...output, organizationId })),
  );
  return outputs;
}
