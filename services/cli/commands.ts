import {
  describeConfig,
  readConfig,
  runCommand,
  runService,
  StartError,
  type Stoppable,
} from "@statehouse/runtime";
import { z } from "zod";

// Each command imports its modules only when it runs. Telemetry must start before the modules that create instruments
// are loaded, and a short command must not load all services.

export interface Command {
  /** The names of the arguments, for the usage text. */
  args: string;
  summary: string;
  run(args: readonly string[]): Promise<void>;
  /** Returns the lines of `--help` after the summary. */
  help(args: readonly string[]): Promise<readonly string[]>;
}

type Print = (line: string) => void;

interface Startable<Schema extends z.ZodObject> {
  name: string;
  config: Schema;
  start(config: z.output<Schema>): Promise<Stoppable>;
}

/** Returns the lines of `--help` that describe settings. */
const settingsHelp = (schema: z.ZodObject): string[] => [
  "Settings come from the environment; NAME_FILE names a file that contains the value of NAME:",
  ...describeConfig(schema),
];

/** Creates a command that runs a service until it is stopped. */
const running = <Schema extends z.ZodObject>(
  name: string,
  load: () => Promise<{ service: Startable<Schema> }>,
): Command => ({
  args: "",
  summary: `runs the service ${name}`,
  help: async () => settingsHelp((await load()).service.config),
  async run() {
    await runService(async () => {
      await using starting = new AsyncDisposableStack();
      const { startTelemetry } = await import("@statehouse/runtime/telemetry");
      starting.use(await startTelemetry({ service: name }));
      const { service } = await load();
      const started = starting.use(await service.start(readConfig(service.config)));
      const stack = starting.move();
      return {
        drain: () => started.drain?.() ?? Promise.resolve(),
        ...(started.stopMs !== undefined && { stopMs: started.stopMs }),
        [Symbol.asyncDispose]: () => stack.disposeAsync(),
      };
    });
  },
});

interface PrintingCommand {
  args?: string;
  summary: string;
  /** The name of the work, for example "Migrating". The line that reports a failure begins with it. */
  what: string;
  /** Lines of the help about arguments and options. */
  details?: readonly string[] | (() => Promise<readonly string[]>);
  settings?: (args: readonly string[]) => Promise<z.ZodObject | undefined>;
  work: (args: readonly string[], print: Print) => Promise<unknown>;
}

/**
 * Creates a command that prints the lines that `work` passes to `print`. If `work` throws, the command prints one line
 * and exits with 1. It also exits with 1 if `work` returns false.
 */
const printing = ({
  args = "",
  summary,
  what,
  details = [],
  settings,
  work,
}: PrintingCommand): Command => ({
  args,
  summary,
  async help(args) {
    const lines = typeof details === "function" ? await details() : details;
    const schema = await settings?.(args);
    return [
      ...lines,
      ...(lines.length > 0 && schema ? [""] : []),
      ...(schema ? settingsHelp(schema) : []),
    ];
  },
  run: (args) =>
    runCommand(what, async (print) => {
      if ((await work(args, print)) === false) process.exitCode = 1;
    }),
});

interface ServiceCommand<Name extends string> {
  summary: string;
  what: string;
  /** The services on which the command can work. Help describes the settings of the first one if none is named. */
  services: readonly [Name, ...Name[]];
  settings: (service: Name) => Promise<z.ZodObject>;
  work: (service: Name, print: Print) => Promise<unknown>;
}

/** Creates a command whose first argument names the service on which the command works. */
const perService = <Name extends string>({
  services: names,
  settings,
  work,
  ...about
}: ServiceCommand<Name>): Command => {
  const named = ([first]: readonly string[]) => names.find((name) => name === first);
  return printing({
    ...about,
    args: `<${names.join("|")}>`,
    settings: (args) => settings(named(args.filter((arg) => !arg.startsWith("-"))) ?? names[0]),
    async work(args, print) {
      const service = named(args);
      if (!service) throw new StartError(`The first argument must be one of ${names.join(", ")}.`);
      return work(service, print);
    },
  });
};

const services = {
  access: () => import("@statehouse/access/service"),
  workspaces: () => import("@statehouse/workspaces/service"),
  state: () => import("@statehouse/state/service"),
  gateway: () => import("@statehouse/gateway/service"),
};
type ServiceName = keyof typeof services;

/** The configuration schemas of the services, which load faster than the services. */
const configs = {
  access: () => import("@statehouse/access/config"),
  workspaces: () => import("@statehouse/workspaces/config"),
  state: () => import("@statehouse/state/config"),
  gateway: () => import("@statehouse/gateway/config"),
};
const settingsOf = async (name: ServiceName): Promise<z.ZodObject> =>
  (await configs[name]()).configSchema;

const kit = () => import("@statehouse/service");
const standalone = () => import("@statehouse/standalone/config");

/** The setting for the data folder of `npm start`. Several commands use this folder if DATABASE_URL is not set. */
const dataFolder = async () => (await standalone()).standaloneSchema.pick({ DATA_DIR: true });

const migrationSettings = async (name: ServiceName) => {
  const { migrationSettings } = await kit();
  if (name !== "access") return migrationSettings;
  const { firstAdministratorSettings } = await import(
    "@statehouse/access/user/first-administrator-command"
  );
  return migrationSettings.extend(firstAdministratorSettings.shape);
};
const contentSettings = async () => {
  const { contentSettings } = await import("@statehouse/state/contents-command");
  return contentSettings.extend((await dataFolder()).shape);
};

export const commands: Readonly<Record<string, Command>> = {
  start: {
    args: "",
    summary: "runs all services in one process with everything that they need (npm start)",
    help: async () => (await import("@statehouse/standalone/help")).helpLines(),
    async run() {
      const { startTelemetry } = await import("@statehouse/runtime/telemetry");
      await startTelemetry({ service: "standalone" });
      const { run } = await import("@statehouse/standalone/run");
      await run();
    },
  },
  gateway: running("gateway", services.gateway),
  access: running("access", services.access),
  workspaces: running("workspaces", services.workspaces),
  state: running("state", services.state),
  migrate: perService({
    summary: "applies the missing migrations of a service's database",
    what: "Migrating",
    services: ["access", "workspaces", "state"],
    settings: migrationSettings,
    work: async (name, print) =>
      (await kit()).migrateService((await services[name]()).service, print),
  }),
  preflight: perService({
    summary: "examines settings, keys and stores of a service and changes nothing",
    what: "The preflight",
    services: ["gateway", "access", "workspaces", "state"],
    settings: settingsOf,
    work: async (name, print) => (await kit()).preflight((await services[name]()).service, print),
  }),
  fsck: printing({
    args: "[--sizes]",
    summary: "compares the rows of state versions with the stored bytes",
    what: "The check",
    details: [
      "Without DATABASE_URL, the command checks the running npm start that uses the data folder DATA_DIR.",
      "",
      "  --sizes  compares sizes only and reads no contents",
    ],
    settings: contentSettings,
    work: async (args, print) => (await import("./commands/fsck.ts")).runFsck(args, print),
  }),
  collect: printing({
    args: "[--dry-run]",
    summary: "applies the retention policies to all workspaces now",
    what: "Collecting",
    details: [
      "Without DATABASE_URL, the command works on the running npm start that uses the data folder DATA_DIR.",
      "",
      "  --dry-run  prints what it would delete and deletes nothing",
    ],
    settings: async () => (await settingsOf("state")).extend((await dataFolder()).shape),
    work: async (args, print) => (await import("./commands/collect.ts")).runCollect(args, print),
  }),
  export: printing({
    args: "<folder>",
    summary: "writes every current state to a folder, with a manifest",
    what: "The export",
    details: [
      "Without DATABASE_URL, the command exports from the data folder of npm start (DATA_DIR), whether npm start runs or not.",
    ],
    settings: async () => {
      const { namesSettings } = await import("./commands/export.ts");
      return (await contentSettings()).extend(namesSettings.shape);
    },
    work: async (args, print) => (await import("./commands/export.ts")).runExport(args, print),
  }),
  "move-blobs": printing({
    summary: "copies stored bytes from BLOB_MOVING_FROM to BLOB_STORE",
    what: "Moving",
    settings: async () => (await import("@statehouse/state/contents-command")).contentSettings,
    work: async (_, print) =>
      (await import("@statehouse/state/blob/move-command")).moveContents(print),
  }),
  keys: printing({
    args: "<action> …",
    summary: "creates, rotates and prints all keys of an installation",
    what: "Creating keys",
    details: async () => (await import("./commands/keys.ts")).keysHelp,
    work: async (args, print) => (await import("./commands/keys.ts")).runKeys(args, print),
  }),
  "rotate-keys": perService({
    summary: "re-encrypts sealed columns with the first of SEALING_KEYS",
    what: "Rotating keys",
    services: ["workspaces", "state"],
    settings: async () => (await kit()).rotationSettings,
    work: async (name, print) => (await kit()).rotateKeys((await services[name]()).service, print),
  }),
  "replay-dead-letters": perService({
    summary: "processes again the events that a service failed to process",
    what: "Replaying",
    services: ["access", "workspaces", "state"],
    settings: settingsOf,
    work: async (name, print) =>
      // The types of the configuration and the App differ from service to service, and only the service uses them.
      (await kit()).replayDeadLetters<unknown, unknown>((await services[name]()).service, print),
  }),
  audit: printing({
    args: "<action> …",
    summary: "verifies and exports the audit trail",
    what: "The audit",
    details: async () => (await import("./commands/audit.ts")).auditActions,
    settings: async () => (await import("./commands/audit.ts")).auditSettings,
    work: async (args, print) => (await import("./commands/audit.ts")).runAudit(args, print),
  }),
  "access-report": printing({
    args: "<organization> [--json]",
    summary: "prints who may do what in an organization today, and since when",
    what: "The report",
    details: [
      "The organization is given by its name or id.",
      "",
      "  --json  prints JSON instead of tables",
      "",
      "WORKSPACES_DATABASE_URL is required to give the organization by its name, and to show the names of projects and workspaces. If no database address is set, the command reads the data folder of npm start (DATA_DIR).",
    ],
    settings: async () => (await import("./commands/service-databases.ts")).databasesSettings,
    work: async (args, print) =>
      (await import("./commands/access-report.ts")).runAccessReport(args, print),
  }),
  user: printing({
    args: "<action> <username> [e-mail]",
    summary: "creates, promotes and suspends users, and creates their tokens",
    what: "Changing a user",
    details: async () => [(await import("@statehouse/access/user/command")).userActions],
    settings: async () => (await import("@statehouse/access/user/command")).userSettings,
    work: async (args, print) =>
      (await import("@statehouse/access/user/command")).changeUser(args, print),
  }),
  organization: printing({
    args: "create <name> --url=URL --token=TOKEN",
    summary: "creates an organization that belongs to the user of the token",
    what: "Creating an organization",
    details: async () => (await import("./commands/first-apply.ts")).accessHelp,
    work: async (args, print) =>
      (await import("./commands/first-apply.ts")).runOrganization(args, print),
  }),
  "cli-config": printing({
    args: "--url=URL --token=TOKEN [--organization NAME]",
    summary: "prints the configuration of terraform and tofu for an installation",
    what: "The configuration",
    details: async () => [
      "The printed file replaces discovery, which needs HTTPS, for the host name statehouse.local. TF_CLI_CONFIG_FILE names it.",
      "",
      ...(await import("./commands/first-apply.ts")).accessHelp,
      "  --organization NAME  creates this organization if it does not exist",
    ],
    work: async (args, print) =>
      (await import("./commands/first-apply.ts")).printCliConfiguration(args, print),
  }),
  healthcheck: healthcheckCommand(),
};

/**
 * Creates the command that checks whether the service on this machine is ready. If its arguments are addresses, as in
 * the pods of `helm test`, it requests these addresses instead.
 */
function healthcheckCommand(): Command {
  const portSetting = async (name: ServiceName) =>
    z.object({ OPS_PORT: (await settingsOf(name)).shape.OPS_PORT });
  const ofService = perService({
    summary:
      "exits with 0 if the service on this machine is ready, or if all given addresses respond with success",
    what: "The health check",
    services: ["access", "workspaces", "state", "gateway"],
    settings: portSetting,
    async work(name) {
      const { OPS_PORT: port } = readConfig(await portSetting(name));
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      if (!answer.ok) throw new StartError(await answer.text());
    },
  });
  const isAddress = (arg: string | undefined) => /^https?:/.test(arg ?? "");
  return {
    ...ofService,
    args: "<access|workspaces|state|gateway|address…>",
    run: (args) =>
      isAddress(args[0])
        ? runCommand("The health check", async (print) => {
            const { checkAddresses } = await import("./commands/check-addresses.ts");
            if (!(await checkAddresses(args, print))) process.exitCode = 1;
          })
        : ofService.run(args),
  };
}

/** Returns whether the arguments ask for the help of the command. */
export const asksForHelp = (args: readonly string[]): boolean =>
  args.includes("--help") || args.includes("-h");

/** Returns the text of `statehouse <name> --help`. */
export async function helpOf(
  name: string,
  command: Command,
  args: readonly string[],
): Promise<string> {
  const lines = await command.help(args);
  const usageLine = `usage: statehouse ${name} ${command.args}`.trimEnd();
  return [usageLine, "", `It ${command.summary}.`, "", ...lines, ""].join("\n");
}

export function usage(): string {
  const lines = Object.entries(commands).map(([name, { args, summary }]) =>
    `  ${`${name} ${args}`.padEnd(54)}${summary}`.trimEnd(),
  );
  return [
    "usage: statehouse <command> [arguments]",
    "",
    ...lines,
    "",
    "statehouse <command> --help describes a command and its settings.",
    "",
  ].join("\n");
}
