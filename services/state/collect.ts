import { readConfig, runCommand } from "@statehouse/runtime";
import { runCollection } from "./collection-run.ts";
import { configSchema } from "./config.ts";

// Goes through all workspaces now and deletes what retention lets go. With --dry-run it names it only.
await runCommand("Collecting", async (print) => {
  await runCollection({ config: readConfig(configSchema), print });
});
