import { readdir } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { recordCommand } from "@statehouse/audit";
import { hasCode } from "@statehouse/errors";
import { makeFolder, readConfig, StartError, startProgress } from "@statehouse/runtime";
import { contentSettings, interruption, openContents } from "../contents-command.ts";
import { exportProblems, exportStates, type StateExport } from "./export-folder-command.ts";
import { currentStates } from "./store.ts";

export interface ExportCommand {
  /** The folder of the export. */
  args: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  namesOf: StateExport["namesOf"];
  print(line: string): void;
}

/**
 * Writes every current state to a folder. Reads only the database and the store, so the service does not have to run.
 * Returns false if a state could not be exported.
 */
export async function exportCurrentStates(command: ExportCommand): Promise<boolean> {
  const { args, environment, namesOf, print } = command;
  const config = readConfig(contentSettings, environment);
  const folder = await emptyFolder(args);
  await using parts = new AsyncDisposableStack();
  const { database, store } = await openContents(config, parts);
  const states = currentStates.reads(database);
  const progress = startProgress({ what: "states" });
  progress.expect(await states.count());
  const signal = interruption("Interrupted; the export is incomplete and has no manifest.");
  const exported = await recordCommand({ name: "export", database, service: "state" }, () =>
    exportStates({
      states,
      store,
      folder,
      namesOf,
      onProgress: progress.advance,
      signal,
    }),
  ).finally(progress.end);
  for (const { problem, workspaceId, versionId, key } of exported.problems) {
    print(`${problem} ${workspaceId} ${versionId} ${key}: ${exportProblems[problem]}`);
  }
  print(`${exported.states} states, ${exported.bytes} bytes in ${folder}`);
  if (exported.problems.length > 0) print(`${exported.problems.length} states not exported`);
  return exported.problems.length === 0;
}

/** Returns the folder of the export, and creates it if it is missing. Throws `StartError` if it cannot be used. */
async function emptyFolder(args: readonly string[]): Promise<string> {
  const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
  const [argument, ...more] = positionals;
  if (argument === undefined || more.length > 0) {
    throw new StartError("The only argument must be the folder of the export.");
  }
  const folder = path.resolve(argument);
  const entries = await readdir(folder).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return [];
    throw new StartError(`The folder ${folder} cannot be read (${codeOf(error)}).`);
  });
  if (entries.length > 0) throw new StartError(`The folder ${folder} is not empty.`);
  await makeFolder(folder, 0o700).catch((error: unknown) => {
    throw new StartError(`The folder ${folder} cannot be created (${codeOf(error)}).`);
  });
  return folder;
}

const codeOf = (error: unknown): unknown => Reflect.get(Object(error), "code");
