import type { Logger } from "@statehouse/runtime";
import { isRejectedLogin } from "./failures.ts";

/** How long new connections may be rejected before the database counts as unavailable, in ms. */
const PATIENCE_MS = 10_000;

/** Notices that the server rejects new connections while open ones still work, and logs it once. */
export interface LoginWatch {
  /** Is called for every failure of the database. */
  failed(error: unknown): void;
  /** Is called for every new connection. */
  accepted(): void;
  /** Throws the reason if the server has rejected new connections for a while and still does. */
  ready(): Promise<void>;
}

/** Creates the watch of one pool. `connect` opens a connection as the pool would, and closes it. */
export function createLoginWatch(connect: () => Promise<void>, logger: Logger): LoginWatch {
  let since: number | undefined;
  const accepted = () => {
    if (since !== undefined) logger.info("the database accepts the login again");
    since = undefined;
  };
  return {
    accepted,
    failed(error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      if (since !== undefined || !isRejectedLogin(cause)) return;
      since = Date.now();
      logger.error({ reason: cause.message }, "the database rejects the login");
    },
    async ready() {
      if (since === undefined || Date.now() - since < PATIENCE_MS) return;
      await connect();
      accepted();
    },
  };
}
