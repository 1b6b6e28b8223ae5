import type { Caller } from "@statehouse/authorization";
import type { StateVersionId } from "../domain/ids.ts";
import type { ContentKind } from "../domain/upload-token.ts";
import type { App } from "./app.ts";

export interface Download {
  blobKey: string;
  size: number;
  sha256: string;
  filename: string;
}

/** Where the bytes of a content are, for a caller who may read the state. Throws `notFound`, `forbidden`. */
export declare function authorizeDownload(
  app: App,
  caller: Caller,
  versionId: StateVersionId,
  kind: ContentKind,
): Promise<Download>;
