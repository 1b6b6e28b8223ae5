import type { Caller } from "@statehouse/authorization";
import { stateVersionNotFound } from "../domain/errors.ts";
import type { StateVersionId } from "../domain/ids.ts";
import { contentOf } from "../domain/state-version-upload.ts";
import type { ContentKind } from "../domain/upload-token.ts";
import type { App } from "./app.ts";
import { authorizeRead } from "./read-access.ts";

export interface Download {
  blobKey: string;
  size: number;
  sha256: string;
  filename: string;
}

/** Where the bytes of a content are, for a caller who may read the state. Throws `notFound`, `forbidden`. */
export async function authorizeDownload(
  app: App,
  caller: Caller,
  versionId: StateVersionId,
  kind: ContentKind,
): Promise<Download> {
  const version = await app.reads.version(versionId);
  if (!version) throw stateVersionNotFound();
  await authorizeRead(app, caller, "state:read", version, "state version");
  const content = version.status === "finalized" ? contentOf(version, kind) : undefined;
  if (!content) throw stateVersionNotFound();
  const extension = kind === "raw" ? "tfstate" : "json";
  return { ...content, filename: `${versionId}.${extension}` };
}
