import { readConfig, runService } from "@statehouse/runtime";
import { standaloneSchema } from "./config.ts";
import { helpText } from "./help.ts";
import { startStandalone } from "./standalone.ts";
import { welcomeText } from "./welcome.ts";

/** Runs standalone with these command-line arguments. */
export async function run(args: readonly string[]): Promise<void> {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(helpText());
    return;
  }
  await runService(async () => {
    const config = readConfig(standaloneSchema);
    const standalone = await startStandalone(config, process.env);
    process.stdout.write(welcomeText(config, standalone));
    return standalone;
  });
}
