import { randomUUID } from "node:crypto";
import type { App } from "./app.ts";
import type { ScanName, ScanTally } from "./scan-store.ts";

/** Largest number of rows that one claim covers. */
export const PAGE = 500;
/** How long a claim lasts without renewal; another replica can claim the page afterwards. */
const LEASE_MS = 60_000;

interface Scan {
  name: ScanName;
  /** Time between the end of one complete scan and the start of the next. */
  intervalMs: number;
  /** Pause before a failed page is tried again. */
  retryMs: number;
}

interface Page {
  /** The id at which the previous page ended. */
  after: string;
  /** Extends the lease. Throws if another replica holds the page. */
  keep(): Promise<void>;
}

interface PageResult {
  /** The ids of the page. After a full page the scan continues with another page; otherwise it ends. */
  ids: readonly string[];
  tally: ScanTally;
}

/**
 * Runs the next page of a scan (ADR 26) on this replica. Returns false if no page is due, or if another replica holds
 * the page. If `work` throws, releases the page and throws the same error.
 */
export async function runScanPage(
  app: App,
  { name, intervalMs, retryMs }: Scan,
  work: (page: Page) => Promise<PageResult>,
): Promise<boolean> {
  const { scans } = app.leases;
  const later = (ms: number) => new Date(app.now().getTime() + ms);
  const claim = await scans.claim(name, {
    holder: randomUUID(),
    now: app.now(),
    until: later(LEASE_MS),
  });
  if (!claim) return false;
  try {
    const { ids, tally } = await work({
      after: claim.after,
      async keep() {
        if (await scans.renew(claim, later(LEASE_MS))) return;
        throw new Error("another replica holds the page");
      },
    });
    const now = app.now();
    const after = ids.length === PAGE ? (ids.at(-1) ?? "") : "";
    const dueAt = after === "" ? later(intervalMs) : now;
    await scans.end(claim, { after, now, dueAt }, tally);
    return true;
  } catch (error) {
    await scans.release(claim, later(retryMs));
    throw error;
  }
}
