import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { cliConfiguration } from "@statehouse/standalone/cli-configuration";
import { commandLine, type Outcome, runProgram, temporaryFolder } from "@statehouse/testing";

/** Runs the real Terraform CLI in one folder. */
export interface CommandLine {
  /** Runs the CLI; does not throw if the exit code is not zero. */
  run(...args: string[]): Promise<Outcome>;
  /** Like `run`, with `input` on standard input. */
  runWith(input: string, ...args: string[]): Promise<Outcome>;
  /** Like `run`, but throws the output if the command fails. */
  succeed(...args: string[]): Promise<Outcome>;
}

/** A separate folder with a configuration, in which the real Terraform CLI runs. */
export interface WorkingFolder extends CommandLine, AsyncDisposable {
  readonly path: string;
  write(file: string, text: string): Promise<void>;
}

const TIMEOUT_MS = 120_000;

/** Creates a separate folder, configured for the service at `url` with `token`. */
export async function workingFolder(options: {
  url: string;
  token: string;
  configuration: string;
  env?: Record<string, string>;
}): Promise<WorkingFolder> {
  const folder = await temporaryFolder();
  const cliFile = path.join(folder.path, "cli.tfrc");
  await writeFile(cliFile, cliConfiguration({ ...options, origin: "Written by a test." }), {
    mode: 0o600,
  });
  const directory = path.join(folder.path, "configuration");
  await mkdir(directory);
  await writeFile(path.join(directory, "main.tf"), options.configuration);
  return {
    ...inFolder(directory, { HOME: folder.path, TF_CLI_CONFIG_FILE: cliFile, ...options.env }),
    path: directory,
    write: (file, text) => writeFile(path.join(directory, file), text),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Returns functions that run the Terraform CLI in an existing folder. */
export function inFolder(cwd: string, variables: Record<string, string>): CommandLine {
  const env = {
    PATH: process.env.PATH ?? "",
    TF_IN_AUTOMATION: "1",
    CHECKPOINT_DISABLE: "1",
    ...variables,
  };
  const runWith = (input: string, ...args: string[]) =>
    runProgram(commandLine(), withoutColor(args), {
      cwd,
      env,
      input,
      timeout: TIMEOUT_MS,
    });
  const run = (...args: string[]) => runWith("", ...args);
  return {
    run,
    runWith,
    succeed: async (...args) => {
      const outcome = await run(...args);
      if (outcome.code !== 0) throw new Error(`${args.join(" ")} failed:\n${outcome.output}`);
      return outcome;
    },
  };
}

/** Inserts `-no-color` directly after a command that accepts it, because options must precede file names. */
const withoutColor = ([command = "", ...rest]: readonly string[]): string[] =>
  ["init", "plan", "apply", "destroy"].includes(command)
    ? [command, "-no-color", ...rest]
    : [command, ...rest];
