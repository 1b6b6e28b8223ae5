import type { Extraction } from "./extraction.ts";
import type { StateVersion } from "./state-version.ts";

const MAX_ATTEMPTS = 4;
const FIRST_BACKOFF_MS = 2000;
const MAX_BACKOFF_MS = 5 * 60_000;

/** Whether a file at fault has had its attempts. */
export const isExhausted = (attempts: number): boolean => attempts >= MAX_ATTEMPTS;

/** How long to wait after the attempt of this number, from 1. */
export const backoffMs = (attempt: number): number =>
  Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1));

/** Whether this attempt is still the one that may say what the file holds. */
export const holdsClaim = (version: StateVersion, attempt: number): boolean =>
  version.extractionDueAt !== null && version.extractionAttempts === attempt;

/** Keeps what extraction found. */
export function processed(
  version: StateVersion,
  extraction: Pick<
    Extraction,
    "opaque" | "formatVersion" | "engineVersion" | "resourceCount" | "billableCount"
  >,
): void {
  version.resourcesProcessed = true;
  version.extractionDueAt = null;
  version.extractionError = extraction.opaque;
  version.formatVersion = extraction.formatVersion;
  version.engineVersion = extraction.engineVersion;
  version.resourceCount = extraction.resourceCount;
  version.billableResourceCount = extraction.opaque === null ? extraction.billableCount : null;
}

/** Ends extraction of a file that cannot be read: processed, with the reason. */
export function processedUnread(version: StateVersion, reason: string): void {
  version.resourcesProcessed = true;
  version.extractionDueAt = null;
  version.extractionError = reason;
}

/** What was found before stands. */
export function wasReadAgain(version: StateVersion): void {
  version.extractionDueAt = null;
}

/** For safe delete: a state that nobody can read may manage resources, so it counts as managing one. */
export const managedResources = (
  version: Pick<StateVersion, "resourceCount" | "extractionError">,
): number =>
  version.extractionError === null ? version.resourceCount : Math.max(1, version.resourceCount);
