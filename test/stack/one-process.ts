import { checkPassedMessages } from "@statehouse/rpc/testing";
import { deadlineSettings, deadlinesOf } from "@statehouse/runtime";
import { compose } from "@statehouse/standalone/compose";
import { listen } from "@statehouse/standalone/listener";
import { z } from "zod";
import type { RunningServices, RunOptions } from "./running-services.ts";

/** Runs all four services in this process on one listener, as standalone does. */
export async function inOneProcess(options: RunOptions): Promise<RunningServices> {
  await using starting = new AsyncDisposableStack();
  const listener = await listen(
    "127.0.0.1",
    0,
    deadlinesOf(z.object(deadlineSettings).parse(options.settings)),
  );
  const nowhere = "127.0.0.1:1";
  const environments = options.environments({
    publicUrl: listener.url,
    objectUrl: listener.url,
    addresses: { access: nowhere, workspaces: nowhere, state: nowhere },
  });
  await options.rewire(environments);
  // Benchmarks, which run outside Vitest, omit this check of the messages that the services pass to each other.
  if (process.env.VITEST) checkPassedMessages();
  const composition = starting.use(await compose(environments, options.logger));
  starting.use(listener);
  listener.serve(composition.handler);
  const started = starting.move();
  let runnerPort: Promise<{ port: number }> | undefined;
  return {
    url: listener.url,
    channelsOf: () => composition,
    environments,
    async runnerAddress() {
      runnerPort ??= composition.listenForRunners({ host: "127.0.0.1", port: 0 });
      return `127.0.0.1:${(await runnerPort).port}`;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
