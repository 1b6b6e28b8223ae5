import { parseArgs } from "node:util";
import { recordCommand } from "@statehouse/audit";
import { readConfig, startProgress } from "@statehouse/runtime";
import { contentSettings, interruption, openContents } from "../contents-command.ts";
import { currentInterruptions } from "../database-heartbeat/app.ts";
import { databaseHeartbeats } from "../database-heartbeat/store.ts";
import { checkContents, contentProblems } from "./check-command.ts";
import { contents as storedContents } from "./store.ts";

/**
 * Delay before an apparent problem is checked again, in ms. Long enough for uploads and deletions in progress to end.
 */
const SETTLING_MS = 1000;

export interface CheckCommand {
  /** `--sizes` compares sizes only and reads no contents. */
  args: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  print(line: string): void;
}

/**
 * Compares the database with the bytes in the store in both directions; the service can run at the same time. Changes
 * nothing, except that the audit trail records the command. Returns false if there are problems.
 */
export async function fsck({ args, environment, print }: CheckCommand): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { sizes: { type: "boolean", default: false } },
  });
  const config = readConfig(contentSettings, environment);
  await using parts = new AsyncDisposableStack();
  const { database, store } = await openContents(config, parts);
  const signal = interruption("Interrupted.");
  const rows = storedContents.reads(database);
  const progress = startProgress({ what: "state versions" });
  progress.expect(await rows.countVersions());
  const interruptions = await currentInterruptions(databaseHeartbeats.reads(database), new Date());
  const check = () =>
    checkContents({
      rows,
      store,
      readContents: !values.sizes,
      sweepGraceMs: config.SWEEP_GRACE * 1000,
      settlingMs: SETTLING_MS,
      blobDeletionDelayMs: config.BLOB_DELETION_DELAY * 1000,
      interruptions,
      now: () => new Date(),
      onProgress: progress.advance,
      signal,
    });
  const command = { name: "fsck", database, service: "state" };
  const checked = await recordCommand(command, check).finally(progress.end);

  const { versions, contents, bytes, young, foreign, problems, deletedPermanently } = checked;
  for (const found of [...problems, ...deletedPermanently]) {
    const { problem, key, workspaceId, versionId, detail } = found;
    const where = [workspaceId, versionId, key].filter((part) => part).join(" ");
    print(`${problem} ${where}: ${contentProblems[problem]}${detail ? ` (${detail})` : ""}`);
  }
  print(`${versions} state versions, ${contents} contents, ${bytes} bytes`);
  if (young > 0)
    print(
      `${young} recent contents without a row: uploads in progress, or within the deletion delay`,
    );
  if (deletedPermanently.length > 0)
    print(`${deletedPermanently.length} contents deleted permanently`);
  if (foreign > 0) print(`${foreign} keys in the store that Statehouse did not write`);
  print(problems.length === 0 ? "no problems found" : `${problems.length} problems`);
  return problems.length === 0;
}
