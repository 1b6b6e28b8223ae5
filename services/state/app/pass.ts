import { randomUUID } from "node:crypto";
import type { PassName, PassTally } from "../store/passes.ts";
import type { App } from "./app.ts";

/** Things that are looked at under one claim. */
export const PAGE = 500;
/** A replica that died with a page in hand has it taken over. */
const LEASE_MS = 60_000;

interface Pass {
  name: PassName;
  /** Between the end of one whole pass and the next. */
  intervalMs: number;
  /** Until a page that failed is tried again. */
  retryMs: number;
}

/** A page in hand. */
interface Page {
  /** Where it begins: the id that the page before ended with. */
  after: string;
  /** Holds it for another while. Throws when another replica took it over: it goes on, and so would both. */
  keep(): Promise<void>;
}

/** How a page ended; a full one has another behind it. */
interface PageEnd {
  last: string | undefined;
  isFull: boolean;
  done: PassTally;
}

/**
 * Does the next page of a pass over everything (ADR 26), whichever replica does it, and says whether one was due. What
 * `work` throws is thrown, once the page is given back for whoever looks next.
 */
export async function takePage(
  app: App,
  { name, intervalMs, retryMs }: Pass,
  work: (page: Page) => Promise<PageEnd>,
): Promise<boolean> {
  const later = (ms: number) => new Date(app.now().getTime() + ms);
  const lease = { holder: randomUUID(), now: app.now(), until: later(LEASE_MS) };
  const claim = await app.passes.claim(name, lease);
  if (!claim) return false;
  try {
    const { last, isFull, done } = await work({
      after: claim.after,
      async keep() {
        if (await app.passes.renew(claim, later(LEASE_MS))) return;
        throw new Error("the page was taken over");
      },
    });
    const now = app.now();
    if (last !== undefined && isFull) {
      await app.passes.advance(claim, { after: last, dueAt: now }, done);
    } else await app.passes.finish(claim, { now, dueAt: later(intervalMs) }, done);
    return true;
  } catch (error) {
    await app.passes.release(claim, later(retryMs));
    throw error;
  }
}
