import { Problems } from "@statehouse/errors";
import {
  lineageConflict,
  runOfOtherWorkspace,
  serialBehind,
  serialConflict,
  stateVersionSuperseded,
} from "../errors-domain.ts";
import type { ExtractedOutput } from "../extraction/domain.ts";
import { parseJsonStateOutputs } from "../state-version-output/domain.ts";
import { awaitsContent, newestOf, type StateVersion } from "./domain.ts";

/** The state that a create request announces. */
export interface Announcement {
  serial: bigint;
  md5: string;
  lineage: string;
  force: boolean;
  runId: string | undefined;
}

/** A create request's announcement, before it is checked. */
export interface AnnouncementInput extends Announcement {
  /** Sizes in bytes of the contents that the create request itself contains. */
  inlineSize?: bigint | undefined;
  inlineJsonSize?: bigint | undefined;
  /** The `outputs` part of the JSON that `terraform show -json` prints. */
  jsonStateOutputs?: Uint8Array | undefined;
}

const MAX_TEXT = 255;

/**
 * Checks and normalizes what a create request announces about its state. It must run before the version is created: if
 * the content were refused only later, no other version could have the same serial or another lineage until the version
 * is discarded. Throws `invalid`.
 */
export function parseAnnouncement(
  input: AnnouncementInput,
  { maxStateBytes }: { maxStateBytes: number },
): Announcement & { outputs: ExtractedOutput[] | undefined } {
  const { serial, md5, lineage, force, runId, jsonStateOutputs } = input;
  const problems = new Problems();
  const requireSize = (field: "inlineSize" | "inlineJsonSize", name: string) => {
    if ((input[field] ?? 0n) <= maxStateBytes) return;
    problems.add(field, `${name} is too large (maximum is ${maxStateBytes} bytes)`);
  };
  const requireLength = (field: "lineage" | "runId", name: string) => {
    if ((input[field] ?? "").length <= MAX_TEXT) return;
    problems.add(field, `${name} is too long (maximum is ${MAX_TEXT} characters)`);
  };
  // Most clients, including the gateway, lose precision in larger JSON numbers.
  if (serial < 0n || serial > BigInt(Number.MAX_SAFE_INTEGER)) {
    problems.add("serial", "Serial is out of range");
  }
  if (!/^[0-9a-f]{32}$/i.test(md5)) {
    problems.add("md5", "Md5 must be 32 hexadecimal digits");
  }
  // The engine writes a UUID. The length is limited because every document of the version shows the lineage.
  requireLength("lineage", "Lineage");
  requireSize("inlineSize", "State");
  requireSize("inlineJsonSize", "JSON state");
  // The id of an unknown run can have any form, so only its length is checked.
  requireLength("runId", "Run");
  const outputs = jsonStateOutputs && parseJsonStateOutputs(jsonStateOutputs, problems);
  problems.throwIfAny();
  return { serial, md5: md5.toLowerCase(), lineage, force, runId, outputs };
}

/**
 * Returns the version that an earlier call of the same request created, if there is one. Throws
 * `stateVersionSuperseded`, even for a forced request, if a newer version exists, or if the version neither has its
 * content nor awaits it, because a response must not claim that a state is stored when it is not.
 *
 * `known` must contain the newest version, and all versions of this epoch and serial.
 */
export function repeatedVersion(
  { serial, md5 }: Pick<Announcement, "serial" | "md5">,
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
 * Throws unless the announced state is forced or may follow the stored versions. Discarded versions are ignored.
 *
 * `known` must contain the newest version that is not discarded, and all versions of this epoch and serial.
 */
export function requireSuccession(
  announced: Omit<Announcement, "runId">,
  epoch: bigint,
  known: readonly StateVersion[],
): void {
  if (announced.force) return;
  const kept = known.filter((version) => version.status !== "discarded");
  const newest = newestOf(kept);
  if (!newest) return;
  const { serial, lineage } = announced;
  // Older engine versions write no lineage.
  if (lineage !== "" && newest.lineage !== "" && lineage !== newest.lineage)
    throw lineageConflict();
  if (kept.some((version) => version.lockEpoch === epoch && version.serial === serial)) {
    throw serialConflict(serial);
  }
  if (serial > newest.serial) return;
  // With the cloud backend, `state push -force` does not set the force flag. It sends a lower or equal serial as the
  // first serial of its lock epoch.
  const firstOfEpoch = newest.lockEpoch !== epoch;
  if (firstOfEpoch && lineage === newest.lineage) return;
  throw serialBehind(serial, newest.serial);
}

/**
 * Throws `runOfOtherWorkspace` if the run belongs to another workspace. `runWorkspaceId` is null, and nothing is
 * thrown, for a run that does not exist or that the caller is not allowed to read.
 */
export function requireOwnRun(workspaceId: string, runWorkspaceId: string | null): void {
  if (runWorkspaceId !== null && runWorkspaceId !== workspaceId) throw runOfOtherWorkspace();
}
