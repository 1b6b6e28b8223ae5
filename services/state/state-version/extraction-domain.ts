import type { Extraction } from "../extraction/domain.ts";
import type { StateVersion } from "./domain.ts";

const MAX_ATTEMPTS = 4;
const FIRST_BACKOFF_MS = 2000;
const MAX_BACKOFF_MS = 5 * 60_000;

/** Returns whether all attempts to read a file have been used. */
export const isExhausted = (attempts: number): boolean => attempts >= MAX_ATTEMPTS;

/** Returns the pause after the attempt with this number, counted from 1. */
export const backoffMs = (attempt: number): number =>
  Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1));

/** Returns whether this attempt still holds the claim; if not, its result must not be stored. */
export const holdsClaim = (version: StateVersion, attempt: number): boolean =>
  version.extractionDueAt !== null && version.extractionAttempts === attempt;

/** Ends the extraction with its result. */
export function setExtracted(
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

/** Ends the extraction of a file that cannot be read, and records the reason. */
export function setUnreadable(version: StateVersion, reason: string): void {
  version.resourcesProcessed = true;
  version.extractionDueAt = null;
  version.extractionError = reason;
}

/** Ends a repeated extraction and keeps the result of the first one. */
export function endRepeatedExtraction(version: StateVersion): void {
  version.extractionDueAt = null;
}

/**
 * Returns the number of resources for safe deletion. An unreadable state counts as at least one resource, because it
 * may manage some.
 */
export const managedResources = (
  version: Pick<StateVersion, "resourceCount" | "extractionError">,
): number =>
  version.extractionError === null ? version.resourceCount : Math.max(1, version.resourceCount);
