import { parseArgs } from "node:util";
import { collectEverything } from "./app/collection-pass.ts";
import type { KeptReason } from "./app/retention-collection.ts";
import type { StateConfig } from "./config.ts";
import type { AppParts } from "./create-app.ts";
import { openOperatorApp } from "./operator.ts";

export interface CollectionRun {
  config: StateConfig;
  /** Of them only workspaces is asked. Default: by the addresses in the settings. */
  channels?: AppParts["channels"];
  print(line: string): void;
}

/**
 * Goes through all workspaces now and deletes what retention lets go. With --dry-run on the command line it names it
 * only. Throws `unavailable` without workspaces' answer.
 */
export async function runCollection({ config, channels, print }: CollectionRun): Promise<void> {
  const { values } = parseArgs({ options: { "dry-run": { type: "boolean", default: false } } });
  const dryRun = values["dry-run"];
  await using opened = await openOperatorApp(config, channels);

  let [versions, bytes] = [0, 0];
  const kept = new Map<KeptReason, number>();
  await collectEverything(opened.app, {
    dryRun,
    onBatch(collected, reasons) {
      for (const { id, workspaceId, rule, createdAt, bytes: size } of collected) {
        if (dryRun) print(`${workspaceId} ${id} ${createdAt.toISOString()} ${size} bytes, ${rule}`);
        bytes += size;
      }
      versions += collected.length;
      for (const reason of reasons) kept.set(reason, (kept.get(reason) ?? 0) + 1);
      if (!dryRun) print(`deleted ${versions} versions, ${bytes} bytes`);
    },
  });
  const what = `${versions} versions, ${bytes} bytes of state`;
  print(dryRun ? `would delete ${what}` : `deleted in all ${what}`);
  for (const [reason, count] of kept) print(`kept ${count}: ${reason}`);
}
