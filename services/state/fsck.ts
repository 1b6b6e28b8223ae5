import { parseArgs } from "node:util";
import {
  createLogger,
  readConfig,
  runCommand,
  StartError,
  startProgress,
} from "@statehouse/runtime";
import { checkContents, contentProblems } from "./objects/content-check.ts";
import { openBlobStore } from "./objects/open-store.ts";
import { contentSettings, interruption, openOperatorDatabase, requireReady } from "./operator.ts";
import { createContentRows } from "./store/content-rows.ts";

// Compares what the database says of state with the bytes in the store, both ways, while state runs or not; changes
// nothing. With --sizes only sizes are compared, and nothing is read. Exit 1 while something does not fit.
await runCommand("The check", async (print) => {
  const { values } = parseArgs({ options: { sizes: { type: "boolean", default: false } } });
  const config = readConfig(contentSettings);
  const logger = createLogger({ service: "state", level: "silent" });
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await openOperatorDatabase(config.DATABASE_URL, logger));
  await database.ready().catch((error: Error) => {
    throw new StartError(`The database cannot be used: ${error.message}`);
  });
  const store = parts.use(await openBlobStore(config, logger, { beside: true }));
  await requireReady(store);
  const signal = interruption("Interrupted.");
  const rows = createContentRows(database);
  const progress = startProgress({ what: "state versions" });
  progress.expect(await rows.countVersions());
  const checked = await checkContents({
    rows,
    store,
    readContents: !values.sizes,
    sweepGraceMs: config.SWEEP_GRACE * 1000,
    now: () => new Date(),
    onProgress: progress.advance,
    signal,
  }).finally(progress.end);

  for (const { problem, key, workspaceId, versionId, detail } of checked.problems) {
    const where = [workspaceId, versionId, key].filter((part) => part).join(" ");
    print(`${problem} ${where}: ${contentProblems[problem]}${detail ? ` (${detail})` : ""}`);
  }
  const { versions, contents, bytes, young, foreign, problems } = checked;
  print(`${versions} state versions, ${contents} contents, ${bytes} bytes`);
  if (young > 0)
    print(`${young} contents without a row are young: uploads under way, or to be swept`);
  if (foreign > 0) print(`${foreign} keys in the store are not ours`);
  print(problems.length === 0 ? "everything fits" : `${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
});
