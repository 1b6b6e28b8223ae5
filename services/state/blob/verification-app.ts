import { forEachConcurrently } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { PAGE, runScanPage } from "../scan-app.ts";

const RETRY_MS = 60_000;
const CONCURRENCY = 8;

/** A blob row whose bytes are missing from the store or have another size. */
export interface LostBlob {
  key: string;
  size: number;
  /** Size in the store; undefined if the bytes are missing. */
  found: number | undefined;
}

/**
 * Compares the sizes in the next page of blob rows with those in the store, without reading contents. Returns undefined
 * if no page is due, or if another replica holds the page. Throws if the store does not respond; the page is then
 * repeated.
 */
export async function verifyNextPage(
  app: App,
  sizeOf: (key: string) => Promise<number | undefined>,
): Promise<LostBlob[] | undefined> {
  const intervalMs = app.settings.verificationIntervalMs;
  let lost: LostBlob[] = [];
  const ran = await runScanPage(
    app,
    { name: "verification", intervalMs, retryMs: RETRY_MS },
    async ({ after }) => {
      const rows = await app.reads.blobs.listAfter(after, PAGE);
      lost = await lostAmong(app, rows, sizeOf);
      const tally = { seen: rows.length, found: lost.length, bytes: 0 };
      return { ids: rows.map(({ key }) => key), tally };
    },
  );
  return ran ? lost : undefined;
}

async function lostAmong(
  app: App,
  rows: readonly { key: string; size: number }[],
  sizeOf: (key: string) => Promise<number | undefined>,
): Promise<LostBlob[]> {
  const suspects: LostBlob[] = [];
  await forEachConcurrently(CONCURRENCY, rows, async ({ key, size }) => {
    const found = await sizeOf(key);
    if (found !== size) suspects.push({ key, size, found });
  });
  if (suspects.length === 0) return [];
  // A blob that was deleted after its row was read is not a lost blob.
  const owned = new Set(await app.reads.blobs.listOwned(suspects.map(({ key }) => key)));
  return suspects.filter(({ key }) => owned.has(key));
}
