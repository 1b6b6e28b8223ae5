import { atOnce } from "@statehouse/runtime";
import type { App } from "./app.ts";
import { PAGE, takePage } from "./pass.ts";

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
  const intervalMs = app.settings.verificationIntervalMs;
  let lost: LostBlob[] = [];
  const taken = await takePage(
    app,
    { name: "verification", intervalMs, retryMs: RETRY_MS },
    async ({ after }) => {
      const rows = await app.jobs.blobsAfter(after, PAGE);
      lost = await lostAmong(app, rows, sizeOf);
      return {
        last: rows.at(-1)?.key,
        isFull: rows.length === PAGE,
        done: { seen: rows.length, found: lost.length, bytes: 0 },
      };
    },
  );
  return taken ? lost : undefined;
}

async function lostAmong(
  app: App,
  rows: readonly { key: string; size: number }[],
  sizeOf: (key: string) => Promise<number | undefined>,
): Promise<LostBlob[]> {
  const suspects: LostBlob[] = [];
  await atOnce(AT_ONCE, rows, async ({ key, size }) => {
    const found = await sizeOf(key);
    if (found !== size) suspects.push({ key, size, found });
  });
  if (suspects.length === 0) return [];
  // Deleted since its row was read: then nothing is lost.
  const owned = new Set(await app.jobs.ownedBlobs(suspects.map(({ key }) => key)));
  return suspects.filter(({ key }) => owned.has(key));
}
