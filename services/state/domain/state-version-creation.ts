import { type FieldError, invalid } from "@statehouse/errors";
import {
  lineageConflict,
  runOfOtherWorkspace,
  serialBehind,
  serialConflict,
  stateVersionSuperseded,
} from "./errors.ts";
import { awaitsContent, newestOf, type StateVersion } from "./state-version.ts";

/** What a create request says of its state. */
export interface Announcement {
  serial: bigint;
  md5: string;
  lineage: string;
  force: boolean;
}

/** What came in the create request itself; in bytes. */
export interface InlineContent {
  inlineSize?: bigint | undefined;
  inlineJsonSize?: bigint | undefined;
}

const title = "invalid attribute";
const MAX_TEXT = 255;
const limit = `maximum is ${MAX_TEXT} characters`;

/** A run that nobody has reported yet may have any id, but not any length. Throws `invalid`. */
export function requireRunId(runId: string | undefined): void {
  if (runId === undefined || runId.length <= MAX_TEXT) return;
  const detail = `Run is too long (${limit})`;
  throw invalid([{ field: "/data/relationships/run/data/id", title, detail }]);
}

/**
 * Checks and normalizes what a create request says, before there is a version: one whose content is refused
 * afterwards would keep its serial and lineage until its lock is released. Throws `invalid`.
 */
export function parseAnnouncement(
  { serial, md5, lineage, force, inlineSize, inlineJsonSize }: Announcement & InlineContent,
  { maxStateBytes }: { maxStateBytes: number },
): Announcement {
  const problems: FieldError[] = [];
  // JSON numbers beyond are not exact in most clients, ours included.
  if (serial < 0n || serial > BigInt(Number.MAX_SAFE_INTEGER)) {
    problems.push({ field: "serial", title, detail: "Serial is out of range" });
  }
  if (!/^[0-9a-f]{32}$/i.test(md5)) {
    problems.push({ field: "md5", title, detail: "Md5 must be 32 hexadecimal digits" });
  }
  // Engines write a UUID. Every document of the version shows it.
  if (lineage.length > MAX_TEXT) {
    problems.push({ field: "lineage", title, detail: `Lineage is too long (${limit})` });
  }
  const tooLarge = (size: bigint | undefined) => size !== undefined && size > maxStateBytes;
  const maximum = `is too large (maximum is ${maxStateBytes} bytes)`;
  if (tooLarge(inlineSize)) problems.push({ field: "state", title, detail: `State ${maximum}` });
  if (tooLarge(inlineJsonSize)) {
    problems.push({ field: "json-state", title, detail: `JSON state ${maximum}` });
  }
  if (problems.length > 0) throw invalid(problems);
  return { serial, md5: md5.toLowerCase(), lineage, force };
}

/**
 * The version that a repeated request means, if it is one. While it is the newest and has or awaits its
 * bytes it is the answer; in every other case the repeat is a conflict, forced or not, so that no answer
 * claims a state that was not kept.
 *
 * `known`: at least the newest version, and those of this epoch and serial.
 */
export function repeatedVersion(
  { serial, md5 }: Announcement,
  epoch: bigint,
  known: readonly StateVersion[],
  now: Date,
): StateVersion | undefined {
  const repeated = known.find(
    (version) => version.lockEpoch === epoch && version.serial === serial && version.md5 === md5,
  );
  if (!repeated) return undefined;
  const usable = repeated.status === "finalized" || awaitsContent(repeated, now);
  if (!usable || newestOf(known) !== repeated) throw stateVersionSuperseded();
  return repeated;
}

/**
 * Whether the announced state may follow; wire-compatibility, section 4, "The stored serial is the
 * request's serial". Discarded versions held nothing and are not followed.
 *
 * `known`: at least the newest version that is not discarded, and those of this epoch and serial.
 */
export function requireSuccession(
  announced: Announcement,
  epoch: bigint,
  known: readonly StateVersion[],
): void {
  if (announced.force) return;
  const kept = known.filter((version) => version.status !== "discarded");
  const newest = newestOf(kept);
  if (!newest) return;
  const { serial, lineage } = announced;
  // Older engine versions had no lineage: nothing to compare.
  if (lineage !== "" && newest.lineage !== "" && lineage !== newest.lineage)
    throw lineageConflict();
  if (kept.some((version) => version.lockEpoch === epoch && version.serial === serial)) {
    throw serialConflict(serial, serial);
  }
  if (serial > newest.serial) return;
  // `state push -force` over the cloud backend: a lower or equal serial, first of its epoch, unforced.
  const firstOfEpoch = newest.lockEpoch !== epoch;
  if (firstOfEpoch && lineage === newest.lineage) return;
  throw serialBehind(serial, newest.serial);
}

/** Wire compatibility, section 4: a run may be unknown yet; "only a run of another workspace is 422". */
export function requireOwnRun(workspaceId: string, runWorkspaceId: string | null): void {
  if (runWorkspaceId !== null && runWorkspaceId !== workspaceId) throw runOfOtherWorkspace();
}
