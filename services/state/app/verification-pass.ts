import { randomUUID } from "node:crypto";
import type { App } from "./app.ts";

/** Blobs whose bytes are looked for at once. */
const PAGE = 500;
const LEASE_MS = 60_000;
const RETRY_MS = 60_000;
const AT_ONCE = 8;

/** A row whose bytes are not in the store as it says. */
export interface LostBlob {
  key: string;
  size: number;
  /** Undefined: there are none. */
  found: number | undefined;
}

/**
 * Looks in the store for the bytes of the next page of rows, whichever replica does it: only for how many there are, so
 * that it costs next to nothing. Undefined while none is due. Throws when the store does not answer; the page is then
 * taken again.
 */
export async function verifyNextPage(
  app: App,
  sizeOf: (key: string) => Promise<number | undefined>,
): Promise<LostBlob[] | undefined> {
  const until = new Date(app.now().getTime() + LEASE_MS);
  const holder = randomUUID();
  const claim = await app.passes.claim("verification", { holder, now: app.now(), until });
  if (!claim) return undefined;
  try {
    const rows = await app.jobs.blobsAfter(claim.after, PAGE);
    const suspects: LostBlob[] = [];
    const queue = rows.values();
    const work = async () => {
      for (const { key, size } of queue) {
        const found = await sizeOf(key);
        if (found !== size) suspects.push({ key, size, found });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // Deleted since its row was read: then nothing is lost.
    const owned = new Set(
      suspects.length === 0 ? [] : await app.jobs.ownedBlobs(suspects.map(({ key }) => key)),
    );
    const lost = suspects.filter(({ key }) => owned.has(key));
    const done = { seen: rows.length, found: lost.length, bytes: 0 };
    const now = app.now();
    const last = rows.at(-1);
    if (last && rows.length === PAGE) {
      await app.passes.advance(claim, { after: last.key, dueAt: now }, done);
    } else {
      const dueAt = new Date(now.getTime() + app.settings.verificationIntervalMs);
      await app.passes.finish(claim, { now, dueAt }, done);
    }
    return lost;
  } catch (error) {
    await app.passes.release(claim, new Date(app.now().getTime() + RETRY_MS));
    throw error;
  }
}
