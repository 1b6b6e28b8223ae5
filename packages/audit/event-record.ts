import type { EventFacts } from "@statehouse/events";
import type { AuditRecord } from "./record.ts";

/** Maps the verb of an event to the verb of the action that is recorded. */
const verbs: Readonly<Record<string, string>> = {
  activated: "activate",
  added: "add",
  "auto-destroy-due": "auto-destroy",
  changed: "change",
  collected: "collect",
  created: "create",
  deleted: "delete",
  discarded: "discard",
  ended: "end",
  finalized: "finalize",
  invited: "invite",
  locked: "lock",
  "permanently-deleted": "permanently-delete",
  processed: "process",
  removed: "remove",
  renewed: "renew",
  restored: "restore",
  sealed: "seal",
  set: "set",
  "soft-deleted": "soft-delete",
  unlocked: "unlock",
  updated: "update",
};

const TYPE = /^statehouse\.[^.]+\.([^.]+)\.([^.]+)\.v\d+$/;

/**
 * Returns the record of a change from its event. Returns undefined for events for the mail sender: they contain
 * secrets, and every such change also has another event. Throws if the verb is unknown.
 */
export function recordOfEvent(event: EventFacts): AuditRecord | undefined {
  const { type, subject, organizationId, changedAttributes } = event;
  if (type.startsWith("statehouse-mail.")) return undefined;
  const [, noun = "", verb = ""] = TYPE.exec(type) ?? [];
  const done = verbs[verb];
  if (!done) throw new Error(`the audit trail has no action for ${type}`);
  return {
    organization: organizationId,
    action: `${noun}.${done}`,
    resource: { type: noun, id: subject },
    changedAttributes,
  };
}
