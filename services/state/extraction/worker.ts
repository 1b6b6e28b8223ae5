import { AppError } from "@statehouse/errors";
import { startLoop, withSpan } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { isDeletedPermanently } from "../object/deleted-permanently-store.ts";
import { isBlobMissing } from "../object/errors-store.ts";
import type { BlobStore } from "../object/store.ts";
import type { PackedExtraction } from "../state-file/packed-extraction-domain.ts";
import { StateReader } from "../state-file/reader-worker.ts";
import {
  claimExtraction,
  type ExtractionFault,
  failExtraction,
  RENEWAL_MS,
  renewExtraction,
  storeExtraction,
} from "./app.ts";
import { StateFileError, StateReadingError } from "./domain.ts";
import type { ExtractionClaim } from "./store.ts";

const INTERVAL_MS = 1_000;
/** Time limit for reading one state, in ms: this time, plus 1 ms for every `BYTES_PER_MS` bytes. */
const READING_MS = 5 * 60_000;
const BYTES_PER_MS = 5_000;

/** Extracts outputs and resources of uploaded states, one state at a time, until the worker is disposed. */
export function startExtraction(
  app: App,
  store: BlobStore,
  { intervalMs = INTERVAL_MS } = {},
): AsyncDisposable {
  const { logger } = app;
  const reader = new StateReader(app.digestKey);

  const extract = async (claim: ExtractionClaim, stop: AbortSignal): Promise<PackedExtraction> => {
    using lease = holdLease(app, claim);
    const inTime = AbortSignal.timeout(READING_MS + Math.ceil(claim.size / BYTES_PER_MS));
    const signal = AbortSignal.any([stop, lease.lost, inTime]);
    try {
      return await reader.read((state) => store.get(claim.blobKey, () => state, signal), signal);
    } catch (error) {
      if (inTime.aborted) throw new StateReadingError("extraction took too long");
      // A database restored from a backup can refer to bytes that were deleted permanently after the backup. These
      // bytes never return, so the version would be claimed again without end.
      if (isBlobMissing(error) && (await isDeletedPermanently(store, claim.blobKey))) {
        throw new StateFileError("the state was deleted permanently", { cause: error });
      }
      throw error;
    }
  };

  const work = async (stop: AbortSignal): Promise<boolean> => {
    const claim = await claimExtraction(app);
    if (!claim) return false;
    let extraction: PackedExtraction;
    try {
      extraction = await withSpan("extract state", { size: claim.size }, () =>
        extract(claim, stop),
      );
    } catch (error) {
      const fault = faultOf(error);
      if (fault === "store" && !stop.aborted) {
        logger.warn(
          { err: error, stateVersionId: claim.versionId },
          "extraction failed; retry scheduled",
        );
      }
      const reason = fault === "store" ? "the state could not be loaded" : messageOf(error);
      await failExtraction(app, claim, { reason, fault });
      return !stop.aborted;
    }
    try {
      await storeExtraction(app, claim, extraction);
    } catch (error) {
      // An unavailable or slow database is a temporary failure. Text that the database cannot store fails every time.
      if (error instanceof AppError && error.kind !== "badRequest") throw error;
      logger.error(
        { err: error, stateVersionId: claim.versionId },
        "extraction could not be stored",
      );
      const reason = "the contents of the state could not be stored";
      await failExtraction(app, claim, { reason, fault: "reading" });
    }
    return true;
  };

  const stack = new AsyncDisposableStack();
  stack.use(reader);
  const wake = app.wakes.extraction;
  stack.use(startLoop({ name: "extract states", intervalMs, wake, work, logger }));
  return stack;
}

/**
 * Renews the claim until the returned object is disposed. The object's signal `lost` is aborted if the claim is lost,
 * for example because another replica holds it.
 */
function holdLease(app: App, claim: ExtractionClaim) {
  const lost = new AbortController();
  const renewal = setInterval(async () => {
    try {
      if (!(await renewExtraction(app, claim)))
        lost.abort(new Error("the claim on the extraction was lost"));
    } catch (error) {
      // If the database is unavailable, other replicas cannot claim the extraction either.
      const { logger } = app;
      logger.debug({ err: error, stateVersionId: claim.versionId }, "extraction lease not renewed");
    }
  }, RENEWAL_MS);
  return { lost: lost.signal, [Symbol.dispose]: () => clearInterval(renewal) };
}

function faultOf(error: unknown): ExtractionFault {
  if (error instanceof StateReadingError) return "reading";
  return error instanceof StateFileError ? "content" : "store";
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");
