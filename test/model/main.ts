import { parseArgs } from "node:util";
import { shareDependencies, startDependencies } from "@statehouse/testing";
import { type SettingName, settings } from "./setting.ts";

const usage = `npm run test:model -- [--hours 1] [--seed 1] [--in faults] [--path 0:1:2]
  tries random histories of clients and faults against the model until the time is over or one fails
  --in    only this setting: ${Object.keys(settings).join("; ")}
  --seed  seed of the first history; each further history has the next seed; printed with every failure
  --path  path of a shrunk history, printed with its failure; repeats only that history, with the printed seed and
          the setting in which it failed`;

/**
 * The total time in ms for which histories run in one setting, before the next setting starts with new users, databases
 * and stores.
 */
const ROUND_MS = 4 * 60_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      hours: { type: "string", default: "1" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 30)) },
      in: { type: "string" },
      path: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return say(usage);
  const worlds = worldsOf(values.in);
  const hours = numberOf("hours", values.hours);
  let seed = numberOf("seed", values.seed);
  await using started = await startDependencies({ fast: true });
  shareDependencies(started.shared);
  const until = Date.now() + hours * 3_600_000;
  const total = { histories: 0, commands: 0 };
  for (let round = 0; round === 0 || (Date.now() < until && !values.path); round++) {
    const name = worlds[round % worlds.length];
    if (!name) return;
    const forMs = Math.max(0, Math.min(ROUND_MS, until - Date.now()));
    const found = await settings[name]({ seed, forMs, path: values.path });
    total.histories += found.histories;
    total.commands += found.commands;
    const minutes = Math.max(0, Math.round((until - Date.now()) / 60_000));
    say(
      `${name}: ${found.histories} histories from seed ${seed}, ${found.commands} commands; ${total.histories} in all, ${minutes} min to go`,
    );
    seed += found.histories;
  }
}

function worldsOf(only: string | undefined): SettingName[] {
  const all = Object.keys(settings) as SettingName[];
  const worlds = all.filter((name) => only === undefined || name === only);
  if (worlds.length === 0) throw new Error(`--in: there is no setting ${only}\n${usage}`);
  return worlds;
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (!(value >= 0)) throw new Error(`--${name}: ${text} is not a number`);
  return value;
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
  if (error instanceof Error && error.cause instanceof Error) {
    process.stderr.write(`${error.cause.message}\n`);
  }
  process.exitCode = 1;
}
