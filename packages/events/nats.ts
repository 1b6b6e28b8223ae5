import { once } from "node:events";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { loginOptions, type NatsLogin, type NatsTls } from "./nats-login.ts";
import { pauseUnless } from "./pause.ts";

export interface NatsOptions {
  /** One address, or several separated by commas: `nats://127.0.0.1:4222`. */
  url: string;
  /** How the client authenticates. Default: no login, for a server without users. */
  login?: NatsLogin | undefined;
  /** If this is set, even to `{}`, an unencrypted connection is refused. */
  tls?: NatsTls | undefined;
  /** Name of the connection, which the server shows to operators. */
  name: string;
  /**
   * The first part of the subjects on which the connection receives responses and events. Default: `_INBOX`, the
   * default of NATS. A user that may subscribe to `_INBOX.>` can read what all connections with this default receive.
   */
  inboxPrefix?: string | undefined;
  /**
   * The JetStream domain through which this login reaches its durable consumer, if another account owns the consumer:
   * `statehouse` for an account that `statehouse keys` created. Default: none; the streams are in the login's account.
   */
  domain?: string | undefined;
}

export interface Nats extends AsyncDisposable {
  readonly domain: string | undefined;
  /** Returns the open connection; waits without a time limit until there is one. */
  connection(): Promise<NatsConnection>;
  /** Resolves if the server responds; otherwise throws the reason why it does not. */
  ready(): Promise<void>;
}

const RETRY_MS = 500;
const TIMEOUT_MS = 2000;

/**
 * Connects in the background and reconnects without limit, so that a service can start and run while NATS is
 * unavailable.
 */
export function connectNats(options: NatsOptions): Nats {
  const { url, name, login, tls, inboxPrefix, domain } = options;
  const stop = Promise.withResolvers<void>();
  let stopped = false;
  let current: NatsConnection | undefined;
  let next = Promise.withResolvers<NatsConnection>();
  let failure: unknown = new Error("not connected yet");
  // Disposal can reject the promise when no caller awaits it; an unhandled rejection would end the process.
  next.promise.catch(() => {});

  let away = false;
  const watch = async (connection: NatsConnection): Promise<void> => {
    away = false;
    for await (const { type } of connection.status()) {
      if (type === "disconnect") away = true;
      else if (type === "reconnect") away = false;
    }
  };

  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        const connection = await connect({
          servers: url.split(",").map((server) => server.trim()),
          name,
          timeout: TIMEOUT_MS,
          maxReconnectAttempts: -1,
          reconnectTimeWait: RETRY_MS,
          pingInterval: 20_000,
          ignoreAuthErrorAbort: true,
          // Without this option, the client creates two errors for each event, in case its publication fails.
          noAsyncTraces: true,
          ...(inboxPrefix !== undefined && { inboxPrefix }),
          ...loginOptions(login, tls),
        });
        if (stopped) return await connection.close();
        current = connection;
        next.resolve(connection);
        void watch(connection);
        await Promise.race([connection.closed(), stop.promise]);
        if (stopped) return;
        current = undefined;
        next = Promise.withResolvers();
        next.promise.catch(() => {});
        failure = new Error("the connection was closed");
      } catch (error) {
        failure = error;
        await pauseUnless(stop.promise, RETRY_MS);
      }
    }
  };
  const running = run();
  return {
    domain,
    connection: () => next.promise,
    async ready() {
      if (!current) throw failure;
      if (away) throw new Error("disconnected; reconnecting");
      const late = once(AbortSignal.timeout(TIMEOUT_MS), "abort").then(() => {
        throw new Error("the server does not respond");
      });
      await Promise.race([current.flush(), late]);
    },
    async [Symbol.asyncDispose]() {
      stopped = true;
      stop.resolve();
      next.reject(new Error("the connection to NATS was closed"));
      await running;
      // Closes the connection instead of draining it: the results of all messages were already awaited, and draining
      // would wait for an unavailable server.
      await current?.close();
    },
  };
}
