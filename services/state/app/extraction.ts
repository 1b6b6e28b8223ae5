import type { Extraction } from "../domain/extraction.ts";
import type { StateVersionId, WorkspaceId } from "../domain/ids.ts";
import type { App } from "./app.ts";

/** One version's raw state to be read, held until the lease ends. */
export interface ExtractionClaim {
  versionId: StateVersionId;
  workspaceId: WorkspaceId;
  blobKey: string;
  size: number;
  /** Its number; an older attempt's result is not stored. */
  attempt: number;
  leaseUntil: Date;
}

/** Takes the next version that waits for extraction; undefined when there is none. */
export declare function claimExtraction(app: App): Promise<ExtractionClaim | undefined>;

/** Keeps what was found, and the outputs unless they were given at creation. A lost claim changes nothing. */
export declare function storeExtraction(
  app: App,
  claim: ExtractionClaim,
  extraction: Extraction,
): Promise<void>;

/**
 * Gives the claim back: later again if the fault may pass (store unreachable: never given up), or, when
 * the file is at fault and after a few attempts, processed with `reason` recorded.
 */
export declare function failExtraction(
  app: App,
  claim: ExtractionClaim,
  failure: { reason: string; poisonous: boolean },
): Promise<void>;
