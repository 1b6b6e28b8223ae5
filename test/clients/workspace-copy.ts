import { eventType } from "@statehouse/events";
import {
  WorkspaceCreatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceLockedSchema,
  WorkspaceUnlockedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import type { Line } from "./drivers.ts";

/** The types of the events from which a subscriber builds its copy of the workspaces. */
export const workspaceEvents = {
  created: eventType(WorkspaceCreatedSchema),
  updated: eventType(WorkspaceUpdatedSchema),
  locked: eventType(WorkspaceLockedSchema),
  unlocked: eventType(WorkspaceUnlockedSchema),
  deleted: eventType(WorkspaceDeletedSchema),
} as const;
const { created, updated, locked, unlocked, deleted } = workspaceEvents;

interface Row {
  name: string;
  nameRevision: number;
  holder: string;
  lockRevision: number;
  deletedRevision: number;
  /** Whether an event about this workspace has been handled since the snapshot began. */
  isNamed: boolean;
}

/**
 * Returns, by workspace id, the name and the lock holder that a subscriber stores after it has handled `lines`. The
 * subscriber applies an event only if its revision is newer than that of the value that it changes.
 */
export function tableOf(lines: readonly Line[]): Record<string, string> {
  const rows = new Map<string, Row>();
  for (const line of lines) {
    if (line.snapshot === "begins") for (const row of rows.values()) row.isNamed = false;
    if (line.snapshot === "complete") {
      for (const [id, row] of rows) {
        if (!row.isNamed && row.deletedRevision === 0) rows.delete(id);
      }
    }
    if (line.handled !== undefined) apply(rows, line);
  }
  return Object.fromEntries(
    [...rows]
      .filter(([, { deletedRevision }]) => deletedRevision === 0)
      .map(([id, { name, holder }]) => [id, `${name} ${holder}`])
      .toSorted(),
  );
}

function apply(rows: Map<string, Row>, { type, subject = "", revision, message }: Line): void {
  const row = rows.get(subject) ?? {
    ...{ name: "", nameRevision: 0, holder: "", lockRevision: 0, deletedRevision: 0 },
    isNamed: true,
  };
  rows.set(subject, row);
  row.isNamed = true;
  const at = Number(revision);
  const { name = "", holderId = "" }: { name?: string; holderId?: string } = Object(message);
  if (at <= row.deletedRevision) return;
  if (type === deleted) row.deletedRevision = at;
  if ((type === created || type === updated) && at > row.nameRevision) {
    row.name = name;
    row.nameRevision = at;
  }
  if ((type === locked || type === unlocked) && at > row.lockRevision) {
    row.holder = holderId;
    row.lockRevision = at;
  }
}
