import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "./logger.ts";

/** How a service stops after SIGTERM. */
export interface Stopping {
  /**
   * Aborted when the service begins to stop. From then on the service is not ready, and each connection is closed after
   * its next response.
   */
  readonly signal: AbortSignal;
  /**
   * Begins to stop the service. Resolves after load balancers have had time to notice this and to send requests to
   * other replicas.
   */
  drain(): Promise<void>;
}

export interface StoppingOptions {
  service: string;
  /** How long the service serves requests after it has begun to stop, in ms. */
  drainMs: number;
  logger: Logger;
}

/** Creates the signal and the drain function of a service. */
export function createStopping({ service, drainMs, logger }: StoppingOptions): Stopping {
  const stop = new AbortController();
  return {
    signal: stop.signal,
    async drain() {
      stop.abort();
      logger.info({ seconds: drainMs / 1000 }, `${service} is stopping and is no longer ready`);
      await sleep(drainMs);
    },
  };
}
