import { type Logger, startLoop } from "@statehouse/runtime";
import type { App } from "../app/app.ts";

export interface AuthenticationLeaseWork {
  app: App;
  maxLeaseMs: number;
  logger: Logger;
}

/**
 * Starts the loop that removes the leases of processes that ended without returning them. Starts no loop if leases are
 * disabled.
 */
export const startAuthenticationLeases = ({
  app,
  maxLeaseMs,
  logger,
}: AuthenticationLeaseWork): AsyncDisposable[] =>
  maxLeaseMs === 0
    ? []
    : [
        startLoop({
          name: "authentication leases",
          intervalMs: maxLeaseMs / 4,
          logger,
          async work() {
            await app.authenticationLeases.removeEnded();
            return false;
          },
        }),
      ];
