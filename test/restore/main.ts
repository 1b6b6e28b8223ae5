import { parseArgs } from "node:util";
import { shareDependencies, startDependencies } from "@statehouse/testing";
import { restoreDrill } from "./drill.ts";

const usage = `npm run restore-drill -- [--seed 1] [--seconds 10]
  writes a random history, restores the databases from a base backup and the archived log, and checks the result
  --seed     seed of the history and of the moments; printed at the start
  --seconds  how long clients write before and after the base backup
`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 30)) },
    seconds: { type: "string", default: "10" },
    help: { type: "boolean", short: "h", default: false },
  },
});
const print = (line: string): void => void process.stdout.write(`${line}\n`);
if (values.help) process.stdout.write(usage);
else {
  try {
    await using started = await startDependencies({ fast: true });
    shareDependencies(started.shared);
    await restoreDrill({
      seed: Number(values.seed),
      historyMs: Number(values.seconds) * 1000,
      print,
    });
    print("the drill has passed");
  } catch (error) {
    print(`seed ${values.seed}`);
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
    process.exitCode = 1;
  }
}
