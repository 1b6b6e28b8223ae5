import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { commandLine, temporaryFolder } from "@statehouse/testing";
import { cliConfiguration } from "../../services/standalone/cli-configuration.ts";

export interface Outcome {
  code: number;
  /** Standard output and error, as a person would see them. */
  output: string;
  stdout: string;
}

/** One folder with a configuration, in which the real command line runs. */
export interface WorkingFolder extends AsyncDisposable {
  readonly path: string;
  write(file: string, text: string): Promise<void>;
  read(file: string): Promise<Buffer>;
  /** Runs the command line; never throws for an exit code. */
  run(...args: string[]): Promise<Outcome>;
  /** Runs it with `input` as what a person types. */
  runWith(input: string, ...args: string[]): Promise<Outcome>;
  /** Runs it and throws what it printed unless it succeeded. */
  succeed(...args: string[]): Promise<Outcome>;
}

const TIMEOUT_MS = 120_000;

/** A folder of its own, configured to speak to the service at `url` with `token`. */
export async function workingFolder(options: {
  url: string;
  token: string;
  configuration: string;
  env?: Record<string, string>;
}): Promise<WorkingFolder> {
  const folder = await temporaryFolder();
  const cliFile = path.join(folder.path, "cli.tfrc");
  await writeFile(cliFile, cliConfiguration(options), { mode: 0o600 });
  const directory = path.join(folder.path, "configuration");
  await mkdir(directory);
  await writeFile(path.join(directory, "main.tf"), options.configuration);
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder.path,
    TF_CLI_CONFIG_FILE: cliFile,
    TF_IN_AUTOMATION: "1",
    CHECKPOINT_DISABLE: "1",
    ...options.env,
  };
  const runWith = (input: string, ...args: string[]) =>
    execute(commandLine(), args, { cwd: directory, env, input });
  const run = (...args: string[]) => runWith("", ...args);
  return {
    path: directory,
    write: (file, text) => writeFile(path.join(directory, file), text),
    read: (file) => readFile(path.join(directory, file)),
    run,
    runWith,
    succeed: async (...args) => {
      const outcome = await run(...args);
      if (outcome.code !== 0) throw new Error(`${args.join(" ")} failed:\n${outcome.output}`);
      return outcome;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

function execute(
  command: string,
  args: readonly string[],
  { input, ...options }: { cwd: string; env: NodeJS.ProcessEnv; input: string },
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args, ...(takesNoColor(args) ? ["-no-color"] : [])], {
      ...options,
      stdio: ["pipe", "pipe", "pipe"],
      timeout: TIMEOUT_MS,
    });
    // It may end without having read anything.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    let stdout = "";
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
      output += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? -1, output, stdout }));
  });
}

/** Its options stand after the command; those with an argument of their own want the flag before it. */
const takesNoColor = ([command]: readonly string[]): boolean =>
  ["init", "plan", "apply", "destroy"].includes(command ?? "");
