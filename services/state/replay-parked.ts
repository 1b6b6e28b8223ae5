import { replayConsumptions } from "@statehouse/events";
import { readConfig, runCommand } from "@statehouse/runtime";
import { configSchema } from "./config.ts";
import { consumptions } from "./consumers/consumptions.ts";
import { openOperatorApp } from "./operator.ts";

// Handles again the events that were put away after failing too often. Exit 1 while some still fail.
await runCommand("Replaying", async (print) => {
  await using opened = await openOperatorApp(readConfig(configSchema));
  const { app, database } = opened;
  const work = { database, service: "state", consumptions: consumptions(app), print };
  if (!(await replayConsumptions(work))) process.exitCode = 1;
});
