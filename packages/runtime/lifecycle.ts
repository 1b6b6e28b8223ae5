import { once } from "node:events";
import { ConfigError } from "./config.ts";

/** Thrown if startup failed for a reason that the operator can resolve; the message is one clear sentence. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** What `runService` runs. */
export interface Stoppable extends AsyncDisposable {
  /** Called before disposal. Reports that the service is not ready; resolves when it may close its ports. */
  drain?(): Promise<void>;
  /** Time limit for disposal in ms; 25 s if omitted. */
  readonly stopMs?: number;
}

/**
 * The default time limit for disposal. It is shorter than the 30 s that orchestrators wait before they send SIGKILL.
 */
const STOP_MS = 25_000;

/**
 * Runs a service until SIGTERM or SIGINT, then drains and disposes it and exits with 0. A second signal, or a disposal
 * that takes longer than its time limit, exits with 1 immediately. After an error at startup the exit code is 1; a
 * `ConfigError` or `StartError` is printed without a stack.
 */
export async function runService(start: () => Promise<Stoppable>): Promise<void> {
  const stopped = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  let running: Stoppable;
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`${startFailure(error)}\n`);
    process.exit(1);
  }
  await stopped;
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => process.exit(1));
  try {
    await running.drain?.();
    const { stopMs = STOP_MS } = running;
    setTimeout(() => {
      process.stderr.write(
        `Stopping took longer than ${stopMs} ms; remaining requests are closed.\n`,
      );
      process.exit(1);
    }, stopMs);
    await running[Symbol.asyncDispose]();
  } catch (error) {
    process.stderr.write(`Stopping failed: ${startFailure(error)}\n`);
    process.exit(1);
  }
  process.exit(0);
}

function startFailure(error: unknown): string {
  if (error instanceof StartError || error instanceof ConfigError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
