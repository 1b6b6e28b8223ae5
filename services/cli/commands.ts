import {
  describeConfig,
  readConfig,
  runCommand,
  runService,
  StartError,
} from "@statehouse/runtime";
import type { z } from "zod";

// Each command imports its modules only when it runs: telemetry must start before modules that create instruments, and
// a short command must not load all services.

export interface Command {
  /** The names of the arguments, for the usage text. */
  args: string;
  summary: string;
  run(args: readonly string[]): Promise<void>;
}

type Print = (line: string) => void;

interface Startable<Schema extends z.ZodObject> {
  name: string;
  config: Schema;
  start(config: z.output<Schema>): Promise<AsyncDisposable>;
}

/** Creates a command that runs a service until it is stopped. */
const running = <Schema extends z.ZodObject>(
  name: string,
  load: () => Promise<{ service: Startable<Schema> }>,
): Command => ({
  args: "",
  summary: `runs the service ${name}`,
  async run(args) {
    if (asksForHelp(args)) {
      const { service } = await load();
      process.stdout.write(
        `statehouse ${name}\n\nSettings come from the environment:\n${describeConfig(service.config).join("\n")}\n`,
      );
      return;
    }
    await runService(async () => {
      await using starting = new AsyncDisposableStack();
      const { startTelemetry } = await import("@statehouse/runtime/telemetry");
      starting.use(await startTelemetry({ service: name }));
      const { service } = await load();
      starting.use(await service.start(readConfig(service.config)));
      return starting.move();
    });
  },
});

const asksForHelp = (args: readonly string[]): boolean =>
  args.includes("--help") || args.includes("-h");

/**
 * Creates a command that prints the lines that `work` passes to `print`. If `work` throws, the command prints one line
 * and exits with 1. It also exits with 1 if `work` returns false.
 */
const printing = (
  args: string,
  summary: string,
  what: string,
  work: (args: readonly string[], print: Print) => Promise<unknown>,
): Command => ({
  args,
  summary,
  run: (given) =>
    runCommand(what, async (print) => {
      if ((await work(given, print)) === false) process.exitCode = 1;
    }),
});

/** Creates a command whose first argument names the service that it works on. */
const perService = (
  names: readonly string[],
  summary: string,
  what: string,
  work: Record<string, (print: Print) => Promise<unknown>>,
): Command =>
  printing(`<${names.join("|")}>`, summary, what, async ([name = ""], print) => {
    const run = Object.hasOwn(work, name) ? work[name] : undefined;
    if (!run) throw new StartError(`The first argument must be one of ${names.join(", ")}.`);
    return run(print);
  });

const access = () => import("@statehouse/access/service");
const workspaces = () => import("@statehouse/workspaces/service");
const state = () => import("@statehouse/state/service");
const gateway = () => import("@statehouse/gateway/service");
const kit = () => import("@statehouse/service");

export const commands: Readonly<Record<string, Command>> = {
  start: {
    args: "[--help]",
    summary: "runs all services in one process with everything that they need (npm start)",
    async run(args) {
      const { startTelemetry } = await import("@statehouse/runtime/telemetry");
      await startTelemetry({ service: "standalone" });
      const { run } = await import("@statehouse/standalone/run");
      await run(args);
    },
  },
  gateway: running("gateway", gateway),
  access: running("access", access),
  workspaces: running("workspaces", workspaces),
  state: running("state", state),
  migrate: perService(
    ["access", "workspaces", "state"],
    "applies the missing migrations of a service's database",
    "Migrating",
    {
      access: async (print) => (await kit()).migrateService((await access()).service, print),
      workspaces: async (print) =>
        (await kit()).migrateService((await workspaces()).service, print),
      state: async (print) => (await kit()).migrateService((await state()).service, print),
    },
  ),
  fsck: printing(
    "[--sizes]",
    "compares the rows of state versions with the stored bytes",
    "The check",
    async (args, print) => (await import("./commands/fsck.ts")).runFsck(args, print),
  ),
  collect: printing(
    "[--dry-run]",
    "applies retention to all workspaces now",
    "Collecting",
    async (args, print) => (await import("./commands/collect.ts")).runCollect(args, print),
  ),
  export: printing(
    "<folder>",
    "writes every current state to a folder, with a manifest",
    "The export",
    async (args, print) => (await import("./commands/export.ts")).runExport(args, print),
  ),
  "move-blobs": printing(
    "",
    "copies stored bytes from BLOB_MOVING_FROM to BLOB_STORE",
    "Moving",
    async (_, print) => (await import("@statehouse/state/commands/move-blobs")).moveContents(print),
  ),
  "rotate-keys": perService(
    ["access", "workspaces", "state"],
    "re-encrypts sealed columns under the first of SEALING_KEYS",
    "Rotating keys",
    {
      access: async (print) => (await kit()).rotateKeys((await access()).service, print),
      workspaces: async (print) => (await kit()).rotateKeys((await workspaces()).service, print),
      state: async (print) => (await kit()).rotateKeys((await state()).service, print),
    },
  ),
  "replay-dead-letters": perService(
    ["access", "workspaces", "state"],
    "handles again the events that a service failed to handle",
    "Replaying",
    {
      access: async (print) => (await kit()).replayDeadLetters((await access()).service, print),
      workspaces: async (print) =>
        (await kit()).replayDeadLetters((await workspaces()).service, print),
      state: async (print) => (await kit()).replayDeadLetters((await state()).service, print),
    },
  ),
  user: printing(
    "<action> <username> [e-mail]",
    "creates, promotes and suspends users, and creates their tokens",
    "Changing a user",
    async (args, print) =>
      (await import("@statehouse/access/commands/user")).changeUser(args, print),
  ),
  healthcheck: perService(
    ["access", "workspaces", "state", "gateway"],
    "exits with 0 when the service of this machine is ready",
    "The health check",
    {
      access: async () => healthcheck((await import("@statehouse/access/config")).configSchema),
      workspaces: async () =>
        healthcheck((await import("@statehouse/workspaces/config")).configSchema),
      state: async () => healthcheck((await import("@statehouse/state/config")).configSchema),
      gateway: async () => healthcheck((await import("@statehouse/gateway/config")).configSchema),
    },
  ),
};

async function healthcheck(config: { shape: { OPS_PORT: z.ZodType } }): Promise<void> {
  const port = config.shape.OPS_PORT.parse(process.env.OPS_PORT || undefined);
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  if (!answer.ok) throw new StartError(await answer.text());
}

export function usage(): string {
  const lines = Object.entries(commands).map(([name, { args, summary }]) =>
    `  ${`${name} ${args}`.padEnd(54)}${summary}`.trimEnd(),
  );
  return ["usage: statehouse <command> [arguments]", "", ...lines, ""].join("\n");
}
