import { type ChildProcess, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { findPythonProgram, missingPythonEnvironment } from "@statehouse/local-services";
import { childEnvironment, followProcess, runProgram, waitFor } from "@statehouse/testing";

const root = path.resolve(import.meta.dirname, "../..");
export const goFolder = path.join(root, "clients/go");
export const pythonFolder = path.join(root, "clients/python");

export const languages = ["typescript", "go", "python"] as const;
export type Language = (typeof languages)[number];

interface Command {
  command: string;
  args: readonly string[];
  env: Record<string, string>;
}

/** One line of a driver's output: an event, a log entry, a step of a snapshot, the counts of a replay, or the end. */
export interface Line {
  handled?: string;
  type?: string;
  subject?: string;
  revision?: string;
  applied?: boolean;
  failed?: boolean;
  message?: unknown;
  log?: string;
  error?: string;
  finished?: string;
  refused?: string;
  ended?: true;
  replayed?: number;
  left?: number;
  /** Whether the event comes from the listing. */
  isListed?: boolean;
  snapshot?: "begins" | "complete";
}

export interface RunningDriver extends AsyncDisposable {
  readonly language: Language;
  lines(): Line[];
  /** The ids of the handled events so far. An id occurs once for each time that its event was handled. */
  handled(): string[];
  /** The errors in the log so far. */
  errors(): string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code when the process ends; -1 if a signal ended it. */
  exit: Promise<number>;
}

/** Environment variables for Go. They override the build flags that are set on the machine. */
export const goEnvironment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  ...{ CGO_ENABLED: "0", GOFLAGS: "-mod=readonly", GOTOOLCHAIN: "local", GOWORK: "off" },
});

export function pythonProgram(name: string): string {
  const program = findPythonProgram("python-client", name);
  if (!program) throw new Error(missingPythonEnvironment("python-client"));
  return program;
}

async function build(command: string, args: readonly string[], options: object): Promise<void> {
  const { code, output } = await runProgram(command, args, options);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${output}`);
}

/** Builds the subscribers' packages of all languages in `folder`. Returns the commands that start their drivers. */
export async function buildDrivers(folder: string): Promise<Record<Language, Command>> {
  const go = path.join(folder, "conformance-go");
  const python = path.join(folder, "python");
  await mkdir(python);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"];
  await Promise.all([
    build("go", ["build", "-o", go, "./conformance"], { cwd: goFolder, env: goEnvironment() }),
    build(
      pythonProgram("python"),
      [...pip, "--no-build-isolation", "--no-index", "--target", python, pythonFolder],
      {},
    ),
  ]);
  return {
    typescript: {
      command: process.execPath,
      args: [path.join(root, "packages/events/test/conformance.ts")],
      env: {},
    },
    go: { command: go, args: [], env: {} },
    python: {
      command: pythonProgram("python"),
      args: ["-P", path.join(pythonFolder, "conformance.py")],
      env: { PYTHONPATH: python, PYTHONDONTWRITEBYTECODE: "1" },
    },
  };
}

const parse = (line: string): Line[] => {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
};

/** Starts a driver with a scenario. */
export function startDriver(
  language: Language,
  { command, args, env }: Command,
  scenario: object,
): RunningDriver {
  const child: ChildProcess = spawn(command, [...args], { env: childEnvironment(env) });
  child.stdin?.end(`${JSON.stringify(scenario)}\n`);
  const process = followProcess(child);
  const lines = () => process.output().split("\n").flatMap(parse);
  return {
    language,
    lines,
    handled: () => lines().flatMap(({ handled }) => handled ?? []),
    errors: () =>
      lines()
        .flatMap(({ error }) => error ?? [])
        .join("\n"),
    kill: (signal) => void child.kill(signal),
    exit: process.exit,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await process.exit;
    },
  };
}

/** Waits until `condition` is true. If it is not true in time, throws an error with the output of `driver`. */
export async function waitForDriver(
  driver: RunningDriver,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  try {
    await waitFor(condition, { timeout: 40_000 });
  } catch (error) {
    const printed = driver.lines().map((line) => JSON.stringify(line));
    throw new Error(`${driver.language} printed:\n${printed.join("\n")}`, { cause: error });
  }
}
