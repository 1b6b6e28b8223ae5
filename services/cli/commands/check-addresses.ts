import { forEachConcurrently, withRetry } from "@statehouse/runtime";

const TIMEOUT_MS = 10_000;
const AT_A_TIME = 10;
/** Maximum number of requests to an address that does not respond. */
const ATTEMPTS = 6;
const REPEAT_MS = 1000;

/**
 * Requests each address and prints its status, or why there is no response. Returns whether all addresses responded
 * with a success status. A request without a response is repeated, because a new pod has no network until its node has
 * applied the network policies.
 */
export async function checkAddresses(
  addresses: readonly string[],
  print: (line: string) => void,
): Promise<boolean> {
  let healthy = true;
  await forEachConcurrently(AT_A_TIME, addresses, async (address) => {
    try {
      const response = await withRetry({ attempts: ATTEMPTS, pauseMs: () => REPEAT_MS }, () =>
        fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) }),
      );
      if (!response.ok) healthy = false;
      print(`${response.status} ${address}`);
    } catch (error) {
      healthy = false;
      const { cause, message } = error instanceof Error ? error : new Error(String(error));
      print(`failed ${address}: ${cause instanceof Error ? cause.message : message}`);
    }
  });
  return healthy;
}
