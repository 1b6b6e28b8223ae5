import { createLogger, readConfig, runCommand, startProgress } from "@statehouse/runtime";
import { type Moved, moveBlobs } from "./objects/blob-move.ts";
import { openMove } from "./objects/open-store.ts";
import { contentSettings, interruption, openOperatorDatabase, requireReady } from "./operator.ts";
import { createJobs } from "./store/jobs.ts";

// Copies every content that a version refers to from BLOB_MOVING_FROM to BLOB_STORE, while state runs with the same
// settings. However it ended, running it again goes on. Exit 1 while something could not be moved.
await runCommand("Moving", async (print) => {
  const config = readConfig(contentSettings);
  const logger = createLogger({ service: "state", level: "silent" });
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await openOperatorDatabase(config.DATABASE_URL, logger));
  const { from, to } = await openMove(config, logger, { beside: true });
  parts.use(from);
  parts.use(to);
  await requireReady(to);
  const jobs = createJobs(database);
  const signal = interruption("Interrupted; run it again.");
  const reported = new Set<string>();
  const pass = async (): Promise<Moved> => {
    const progress = startProgress({ what: "contents" });
    progress.expect(await jobs.countBlobs());
    try {
      return await moveBlobs({
        from,
        to,
        owned: jobs.blobsAfter,
        stillOwned: async (keys) => new Set(await jobs.ownedBlobs(keys)),
        done: () => progress.advance(),
        report: ({ key, problem }) => {
          if (!reported.has(key)) print(`${problem}: ${key}`);
          reported.add(key);
        },
        signal,
      });
    } finally {
      progress.end();
    }
  };
  // Until one finds nothing to copy: what was finalized in the old place meanwhile comes along.
  let moved: Moved;
  do {
    moved = await pass();
    const mebibytes = (moved.bytes / 1024 ** 2).toFixed(1);
    print(`copied ${moved.copied} (${mebibytes} MiB), ${moved.alreadyThere} were there already`);
  } while (moved.copied > 0);
  if (moved.problems === 0) print("everything is moved: state can run without BLOB_MOVING_FROM");
  else {
    print(`${moved.problems} could not be moved, and are where they were: keep BLOB_MOVING_FROM`);
    process.exitCode = 1;
  }
});
