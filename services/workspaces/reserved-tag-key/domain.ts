import { notFound, type Problems } from "@statehouse/errors";
import { nextVersion } from "@statehouse/events/version";
import { newRow } from "@statehouse/postgres/new-row";
import type { OrganizationId } from "../ids-domain.ts";
import { touch } from "../revision-domain.ts";
import { problemOfKey, type TagBindingInput } from "../tag-binding/domain.ts";

/** A tag key for which an organization sets rules. */
export class ReservedTagKey {
  declare id: ReservedTagKeyId;
  declare organizationId: OrganizationId;
  declare key: string;
  /** If true, a workspace must not override its project's value for this key. */
  declare disableOverrides: boolean;
  declare revision: bigint;
  declare createdAt: Date;
  declare updatedAt: Date;
}

/** Creates a reserved tag key; the caller must set the key. */
export const newReservedTagKey = (
  id: ReservedTagKeyId,
  organizationId: OrganizationId,
  now: Date,
): ReservedTagKey =>
  newRow(ReservedTagKey, {
    id,
    organizationId,
    key: "",
    disableOverrides: false,
    revision: nextVersion(0n, now),
    createdAt: now,
    updatedAt: now,
  });

export interface ReservedTagKeyInput {
  key: string | undefined;
  disableOverrides: boolean | undefined;
}

export const takenKeyText = "Key has already been taken";

/** Applies the values of a request and adds violated rules to `problems`. */
export function applyReservedTagKey(
  reserved: ReservedTagKey,
  { key, disableOverrides }: ReservedTagKeyInput,
  { problems, now }: { problems: Problems; now: Date },
): void {
  if (key !== undefined) reserved.key = key;
  if (disableOverrides !== undefined) reserved.disableOverrides = disableOverrides;
  const problem = problemOfKey(reserved.key);
  if (problem !== undefined) problems.add("key", problem);
  touch(reserved, now);
}

/**
 * Returns the keys whose requested value differs from the value of the project's binding in `fixed`. Workspaces must
 * not override the bindings in `fixed`, but overrides that the workspace already has remain allowed and are omitted.
 * `after` maps each key to its requested value.
 */
export function disallowedOverrides(
  current: readonly TagBindingInput[],
  after: ReadonlyMap<string, string>,
  fixed: readonly TagBindingInput[],
): string[] {
  const before = new Map(current.map(({ key, value }) => [key, value]));
  return fixed
    .filter(({ key, value }) => {
      const changed = after.get(key);
      return changed !== undefined && changed !== value && changed !== before.get(key);
    })
    .map(({ key }) => key);
}

export const reservedTagKeyNotFound = () => notFound("reserved tag key");

export type ReservedTagKeyId = `rtk-${string}`;
