import { grpcChannel } from "@statehouse/rpc";
import { readConfig, runCommand } from "@statehouse/runtime";
import { runCollection } from "./collection-run.ts";
import { configSchema } from "./config.ts";

// Goes through all workspaces now and deletes what retention lets go. With --dry-run it names it only.
await runCommand("Collecting", async (print) => {
  const config = readConfig(configSchema);
  await using parts = new AsyncDisposableStack();
  const { ACCESS_ADDRESS, WORKSPACES_ADDRESS } = config;
  const channels = {
    access: parts.use(grpcChannel({ address: ACCESS_ADDRESS, audience: "access" })),
    workspaces: parts.use(grpcChannel({ address: WORKSPACES_ADDRESS, audience: "workspaces" })),
  };
  await runCollection({ config, channels, print });
});
