import { forEachConcurrently, withRetry } from "@statehouse/runtime";
import { z } from "zod";

const TIMEOUT_MS = 10_000;
const AT_A_TIME = 10;
/** Maximum number of requests to an address that does not respond. */
const ATTEMPTS = 6;
const REPEAT_MS = 1000;

/** The body of `/readyz?verbose`. */
const readiness = z.object({
  dependencies: z.record(
    z.string(),
    z.object({ status: z.string(), reason: z.string().optional() }),
  ),
});

/**
 * Requests each address and prints its status, or why there is no response. Returns whether all addresses responded
 * with a success status and reported no failed dependency. A request without a response is repeated, because a new pod
 * has no network until its node has applied the network policies; so is one that reports a failed dependency, because a
 * new pod may still be connecting to it.
 */
export async function checkAddresses(
  addresses: readonly string[],
  print: (line: string) => void,
): Promise<boolean> {
  let healthy = true;
  await forEachConcurrently(AT_A_TIME, addresses, async (address) => {
    try {
      const status = await withRetry({ attempts: ATTEMPTS, pauseMs: () => REPEAT_MS }, async () => {
        const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
        requireDependencies(await response.text());
        return response.status;
      });
      if (status < 200 || status > 299) healthy = false;
      print(`${status} ${address}`);
    } catch (error) {
      healthy = false;
      const { cause, message } = error instanceof Error ? error : new Error(String(error));
      print(`failed ${address}: ${cause instanceof Error ? cause.message : message}`);
    }
  });
  return healthy;
}

/** Throws an error that names each failed dependency with its reason, if `body` reports any. */
function requireDependencies(body: string): void {
  if (!body.startsWith("{")) return;
  const { data } = readiness.safeParse(JSON.parse(body));
  const failed = Object.entries(data?.dependencies ?? {}).filter(
    ([, { status }]) => status !== "ok",
  );
  if (failed.length === 0) return;
  throw new Error(failed.map(([name, { reason }]) => `${name}: ${reason}`).join("; "));
}
