import { recordCommand } from "@statehouse/audit";
import { createLogger, readConfig, startProgress } from "@statehouse/runtime";
import {
  contentSettings,
  interruption,
  openOperatorDatabase,
  requireReady,
} from "../contents-command.ts";
import { copyList } from "../object/deleted-permanently-store.ts";
import { openMove } from "../object/open-store.ts";
import { type Moved, moveBlobs } from "./move-store.ts";
import { blobs } from "./store.ts";

/**
 * Copies, from BLOB_MOVING_FROM to BLOB_STORE, all bytes to which versions refer. Meanwhile, the service can run with
 * the same settings. The command can be interrupted and repeated at any time. Returns false if some bytes could not be
 * moved.
 */
export async function moveContents(print: (line: string) => void): Promise<boolean> {
  const config = readConfig(contentSettings);
  const logger = createLogger({ service: "state", level: "silent" });
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openOperatorDatabase(config.DATABASE_URL, logger));
  const { from, to } = await openMove(config, logger, { beside: true });
  stack.use(from);
  stack.use(to);
  await requireReady(to);
  const owned = blobs.reads(database);
  const signal = interruption("Interrupted; run the command again.");
  const reported = new Set<string>();
  const pass = async (): Promise<Moved> => {
    const progress = startProgress({ what: "contents" });
    progress.expect(await owned.count());
    try {
      return await moveBlobs({
        from,
        to,
        owned: owned.listAfter,
        stillOwned: async (keys) => new Set(await owned.listOwned(keys)),
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
  const command = { name: "move-blobs", database, service: "state" };
  return await recordCommand(command, async () => {
    // Repeated until nothing is left to copy, because contents may be finalized in the old store while the command
    // runs.
    let moved: Moved;
    do {
      moved = await pass();
      const mebibytes = (moved.bytes / 1024 ** 2).toFixed(1);
      print(
        `${moved.copied} contents copied (${mebibytes} MiB), ${moved.alreadyThere} contents already present`,
      );
    } while (moved.copied > 0);
    await copyList({ from, to });
    if (moved.problems === 0) {
      print("all contents are moved: the state service can run without BLOB_MOVING_FROM");
      return true;
    }
    print(
      `${moved.problems} contents could not be moved and remain where they were: keep BLOB_MOVING_FROM`,
    );
    return false;
  });
}
