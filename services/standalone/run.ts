import { readConfig, runService } from "@statehouse/runtime";
import { standaloneSchema } from "./config.ts";
import { startStandalone } from "./standalone.ts";
import { welcomeText } from "./welcome.ts";

/** Runs standalone until it is stopped. */
export async function run(): Promise<void> {
  await runService(async () => {
    const config = readConfig(standaloneSchema);
    const standalone = await startStandalone(config, process.env);
    process.stdout.write(welcomeText(config, standalone));
    return standalone;
  });
}
