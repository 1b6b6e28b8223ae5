import { randomUUID } from "node:crypto";
import type { PassClaim } from "../store/passes.ts";
import type { App } from "./app.ts";
import { type Collecting, collectWorkspaces } from "./retention-collection.ts";

/** Workspaces whose retention is asked for at once. */
const PAGE = 500;
/** A replica that died with a page in hand has it taken over. */
const LEASE_MS = 60_000;
const LONGEST_RETRY_MS = 30_000;

/**
 * Goes through the next page of workspaces, whichever replica does it; says whether one was due. Throws
 * `unavailable` without workspaces' answer; the page is then taken again.
 */
export async function collectNextPage(app: App, onBatch: Collecting["onBatch"]): Promise<boolean> {
  const lease = () => new Date(app.now().getTime() + LEASE_MS);
  const holder = randomUUID();
  const claim = await app.passes.claim("retention", { holder, now: app.now(), until: lease() });
  if (!claim) return false;
  const done = { seen: 0, found: 0, bytes: 0 };
  try {
    const ids = await app.retention.workspacesAfter(claim.after, PAGE);
    if (ids.length > 0) {
      await collectWorkspaces(app, ids, {
        async onBatch(collected, kept) {
          done.found += collected.length;
          done.bytes += collected.reduce((sum, { bytes }) => sum + bytes, 0);
          await onBatch(collected, kept);
          await keep(app, claim, lease());
        },
      });
    }
    done.seen = ids.length;
    const now = app.now();
    const last = ids.at(-1);
    if (last !== undefined && ids.length === PAGE) {
      await app.passes.advance(claim, { after: last, dueAt: now }, done);
      return true;
    }
    const dueAt = new Date(now.getTime() + app.settings.collectionIntervalMs);
    await app.passes.finish(claim, { now, dueAt }, done);
    return true;
  } catch (error) {
    // For whoever looks next; what was collected stays so.
    const retryMs = Math.min(LONGEST_RETRY_MS, app.settings.collectionIntervalMs);
    await app.passes.release(claim, new Date(app.now().getTime() + retryMs));
    throw error;
  }
}

/** Throws when another replica took the page over: it goes on, and so would both. */
async function keep(app: App, claim: PassClaim, until: Date): Promise<void> {
  if (!(await app.passes.renew(claim, until))) throw new Error("the page was taken over");
}

/** Goes through all workspaces now, beside what the replicas do by themselves. */
export async function collectEverything(app: App, collecting: Collecting): Promise<void> {
  for (let after = ""; ; ) {
    const ids = await app.retention.workspacesAfter(after, PAGE);
    const last = ids.at(-1);
    if (last === undefined) return;
    await collectWorkspaces(app, ids, collecting);
    after = last;
  }
}
