import { createSealer } from "@statehouse/postgres";
import { createLogger, readConfig, runCommand } from "@statehouse/runtime";
import { configSchema } from "./config.ts";
import { openOperatorDatabase } from "./operator.ts";
import { resealOutputs } from "./store/output-sealing.ts";

// Seals every sensitive output value under the first of SEALING_KEYS; the other keys may go afterwards.
await runCommand("Sealing again", async (print) => {
  const needed = configSchema.pick({ DATABASE_URL: true, SEALING_KEYS: true });
  const { DATABASE_URL: url, SEALING_KEYS: keys } = readConfig(needed);
  await using database = await openOperatorDatabase(url, createLogger({ service: "state" }));
  const resealed = await resealOutputs(database, createSealer({ keys }));
  print(`sealed ${resealed} values again`);
});
