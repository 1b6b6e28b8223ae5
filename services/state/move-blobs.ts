import { openDatabase } from "@statehouse/postgres";
import {
  createLogger,
  readConfig,
  runCommand,
  StartError,
  startProgress,
} from "@statehouse/runtime";
import { configSchema } from "./config.ts";
import { type Moved, moveBlobs } from "./objects/blob-move.ts";
import { openMove } from "./objects/open-store.ts";
import { entities } from "./store/entities.ts";
import { createJobs } from "./store/jobs.ts";
import { migrations } from "./store/migrations.ts";

const needed = configSchema.pick({
  DATABASE_URL: true,
  BLOB_STORE: true,
  BLOB_DIRECTORY: true,
  BLOB_MOVING_FROM: true,
  S3_ENDPOINT: true,
  S3_BUCKET: true,
  S3_REGION: true,
  S3_ACCESS_KEY: true,
  S3_SECRET_KEY: true,
  S3_ADDRESSING: true,
  S3_CA_FILE: true,
});

// Copies every content that a version refers to from BLOB_MOVING_FROM to BLOB_STORE, while state runs with the same
// settings. However it ended, running it again goes on. Exit 1 while something could not be moved.
await runCommand("Moving", async (print) => {
  const config = readConfig(needed);
  const logger = createLogger({ service: "state", level: "silent" });
  await using parts = new AsyncDisposableStack();
  const database = parts.use(
    await openDatabase({
      contextName: "state",
      url: config.DATABASE_URL,
      entities,
      migrations,
      logger,
    }),
  );
  const { from, to } = await openMove(config, logger, { beside: true });
  parts.use(from);
  parts.use(to);
  await to.ready().catch((error: Error) => {
    throw new StartError(error.message);
  });
  const jobs = createJobs(database);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => interrupted.abort(new StartError("Interrupted; run it again.")));
  }
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
        signal: interrupted.signal,
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
