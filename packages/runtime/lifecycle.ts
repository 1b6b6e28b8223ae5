import { ConfigError } from "./config.ts";

/** Start-up failed for a reason the operator can mend; the message is one clear sentence. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/**
 * Runs a service until SIGTERM or SIGINT, then disposes it once and exits 0; a second signal exits
 * at once. A `ConfigError` or `StartError` at start is printed as it is, without a stack, exit 1.
 */
export async function runService(start: () => Promise<AsyncDisposable>): Promise<void> {
  const stopped = nextSignal();
  let running: AsyncDisposable;
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`${startFailure(error)}\n`);
    process.exit(1);
  }
  await stopped;
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(1));
  try {
    await running[Symbol.asyncDispose]();
  } catch (error) {
    process.stderr.write(`Stopping failed: ${startFailure(error)}\n`);
    process.exit(1);
  }
  process.exit(0);
}

function nextSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
}

function startFailure(error: unknown): string {
  if (error instanceof StartError || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
