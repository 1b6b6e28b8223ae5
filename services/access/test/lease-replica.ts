import { unavailable } from "@statehouse/errors";
import { type AssertionKeys, type Channel, createCallers, createRpcServer } from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import { createAuthenticationLeases } from "../app/authentication-lease.ts";
import { openOperatorApp } from "../commands/operator.ts";
import { bindings } from "../rpc/bindings.ts";
import { loadGrants } from "../rpc/grants.ts";
import type { AuthenticationLeaseStore } from "../store/authentication-lease.ts";
import { createLeases } from "../store/nouns.ts";

export interface ReplicaOptions {
  url: string;
  keys: AssertionKeys;
  maxLeaseMs: number;
  /** The clock of the replica, in ms. */
  monotonic: () => number;
}

/** A replica of the access service without background work, which can be killed and paused. */
export interface Replica extends AsyncDisposable {
  readonly channel: Channel;
  readonly app: App;
  /**
   * After this call, the replica neither continues work nor responds. Statements that it has sent to the database are
   * still executed.
   */
  kill(): void;
  /** Stops all work of the replica on leases until the returned function is called. */
  pause(): () => void;
}

export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const { url, keys, maxLeaseMs, monotonic } = options;
  const opened = await openOperatorApp({ url, maxLeaseMs });
  const killed = Promise.withResolvers<never>();
  killed.promise.catch(() => {});
  let running: Promise<unknown> = Promise.resolve();
  const gated = Object.fromEntries(
    Object.entries(createLeases(opened.database).authenticationLeases).map(([name, run]) => [
      name,
      async (...given: never[]) => {
        await running;
        const result = await (run as (...all: never[]) => Promise<unknown>)(...given);
        await running;
        return result;
      },
    ]),
  ) as unknown as AuthenticationLeaseStore;
  const app: App = {
    ...opened.app,
    authenticationLeases: createAuthenticationLeases(gated, { maxLeaseMs, monotonic }),
  };
  const callerOf = createCallers(loadGrants(app));
  const rpc = createRpcServer({
    name: "access",
    keys,
    bindings: bindings(app),
    context: async (principal) => ({ caller: await callerOf(principal, { currentGrants: true }) }),
    logger: createLogger({ service: "access", level: "silent" }),
  });
  const inProcess = rpc.inProcess();
  return {
    app,
    channel: {
      ...inProcess,
      call: (...given) => Promise.race([inProcess.call(...given), killed.promise]),
    },
    kill() {
      running = new Promise(() => {});
      killed.reject(unavailable("killed", "The access service does not answer."));
    },
    pause() {
      const paused = Promise.withResolvers<void>();
      running = paused.promise;
      return () => paused.resolve();
    },
    async [Symbol.asyncDispose]() {
      await rpc.close(0);
      await opened[Symbol.asyncDispose]();
    },
  };
}
