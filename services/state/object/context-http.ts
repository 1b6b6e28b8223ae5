import type { IncomingMessage, ServerResponse } from "node:http";
import type { AuthenticationLimit } from "@statehouse/runtime";
import type { App } from "../app.ts";
import type { BlobStore } from "./store.ts";

/** The dependencies of the object server. */
export interface Objects {
  app: App;
  store: BlobStore;
}

/** A request to the object server, and its response. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Aborted if the client disconnects. */
  signal: AbortSignal;
  /** Whether the client sends its bytes only after a 100 response. */
  awaitsContinue: boolean;
  /** The address of the client; undefined if it is unknown. */
  address: string | undefined;
  authenticationLimit: AuthenticationLimit;
  /**
   * Starts the idle time limit: from now on, the connection is closed if no data is transferred for
   * `HandlerOptions.idleMs`.
   */
  watch(): void;
}
