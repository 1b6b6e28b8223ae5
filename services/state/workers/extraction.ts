import { AppError } from "@statehouse/errors";
import { type Logger, startLoop, withSpan } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import {
  claimExtraction,
  type ExtractionClaim,
  type ExtractionFault,
  failExtraction,
  RENEWAL_MS,
  renewExtraction,
  storeExtraction,
} from "../app/extraction.ts";
import type { PackedExtraction } from "../domain/extraction.ts";
import { StateFileError, StateReadingError } from "../domain/state-file-error.ts";
import type { BlobStore } from "../objects/blob-store.ts";
import { StateReader } from "./state-reader.ts";

export interface ExtractionOptions {
  app: App;
  store: BlobStore;
  logger: Logger;
  intervalMs?: number;
}

const INTERVAL_MS = 1_000;
/** For one state, from its first byte to what is in it: some time, and more for more bytes. */
const READING_MS = 5 * 60_000;
const BYTES_PER_MS = 5_000;

/** Extracts outputs and resources of uploaded states, one at a time, until it is disposed. */
export function startExtraction(options: ExtractionOptions): AsyncDisposable {
  const { app, store, logger, intervalMs = INTERVAL_MS } = options;
  const stopping = new AbortController();
  const reader = new StateReader();

  const extract = async (claim: ExtractionClaim): Promise<PackedExtraction> => {
    using lease = holdLease(app, claim, logger);
    const inTime = AbortSignal.timeout(READING_MS + Math.ceil(claim.size / BYTES_PER_MS));
    const signal = AbortSignal.any([stopping.signal, lease.lost, inTime]);
    try {
      return await reader.read((state) => store.get(claim.blobKey, () => state, signal), signal);
    } catch (error) {
      if (inTime.aborted) throw new StateReadingError("reading the state took too long");
      throw error;
    }
  };

  const work = async (): Promise<boolean> => {
    const claim = await claimExtraction(app);
    if (!claim) return false;
    let extraction: PackedExtraction;
    try {
      extraction = await withSpan("extract state", { size: claim.size }, () => extract(claim));
    } catch (error) {
      const fault = faultOf(error);
      if (fault === "store" && !stopping.signal.aborted) {
        logger.warn({ err: error, stateVersionId: claim.versionId }, "extraction is tried again");
      }
      const reason = fault === "store" ? "the state could not be loaded" : messageOf(error);
      await failExtraction(app, claim, { reason, fault });
      return !stopping.signal.aborted;
    }
    try {
      await storeExtraction(app, claim, extraction);
    } catch (error) {
      // Away or too slow: that passes, and is nobody's fault. Text that it cannot hold does not.
      if (error instanceof AppError && error.kind !== "badRequest") throw error;
      logger.error({ err: error, stateVersionId: claim.versionId }, "extraction was not kept");
      const reason = "what the state holds could not be kept";
      await failExtraction(app, claim, { reason, fault: "reading" });
    }
    return true;
  };

  const loop = startLoop({
    name: "extract states",
    intervalMs,
    wake: app.wakes.extraction,
    work,
    logger,
  });
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the service stops"));
      await loop[Symbol.asyncDispose]();
      await reader[Symbol.asyncDispose]();
    },
  };
}

/** Renews the claim until it is disposed; `lost` is aborted when another reader has it. */
function holdLease(app: App, claim: ExtractionClaim, logger: Logger) {
  const lost = new AbortController();
  const renewal = setInterval(async () => {
    try {
      if (!(await renewExtraction(app, claim))) lost.abort(new Error("another reader took over"));
    } catch (error) {
      // The database is away: nobody else can take over either.
      logger.debug({ err: error, stateVersionId: claim.versionId }, "a lease was not renewed");
    }
  }, RENEWAL_MS);
  return { lost: lost.signal, [Symbol.dispose]: () => clearInterval(renewal) };
}

function faultOf(error: unknown): ExtractionFault {
  if (error instanceof StateReadingError) return "reading";
  return error instanceof StateFileError ? "content" : "store";
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");
