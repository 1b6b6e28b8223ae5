import { parseArgs } from "node:util";
import { recordCommand } from "@statehouse/audit";
import type { Channel } from "@statehouse/rpc";
import type { StateConfig } from "../config.ts";
import { service } from "../service.ts";
import type { KeptReason } from "./app.ts";
import { collectEverything } from "./scan-app.ts";

export interface CollectCommand {
  /** With `--dry-run`, prints the versions and deletes nothing. */
  args: readonly string[];
  config: StateConfig;
  /** By default, channels to the addresses in the settings. Only the workspaces service is called. */
  channels?: { access: Channel; workspaces: Channel };
  print(line: string): void;
}

/** Applies retention to all workspaces now. Throws `unavailable` if the workspaces service does not respond. */
export async function collect({ args, config, channels, print }: CollectCommand): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { "dry-run": { type: "boolean", default: false } },
  });
  const dryRun = values["dry-run"];
  await using opened = await service.openApp(config, channels ? { channels } : {});

  let [versions, bytes] = [0, 0];
  const kept = new Map<KeptReason, number>();
  const run = () =>
    collectEverything(opened.app, {
      dryRun,
      onBatch(collected, reasons) {
        for (const { id, workspaceId, rule, createdAt, bytes: size } of collected) {
          if (dryRun)
            print(`${workspaceId} ${id} ${createdAt.toISOString()} ${size} bytes, ${rule}`);
          bytes += size;
        }
        versions += collected.length;
        for (const reason of reasons) kept.set(reason, (kept.get(reason) ?? 0) + 1);
        if (!dryRun) print(`deleted ${versions} versions, ${bytes} bytes`);
      },
    });
  const command = { name: "collect", database: opened.database, service: service.name };
  // A dry run only reads metadata, so it is not recorded.
  await (dryRun ? run() : recordCommand(command, run));
  const what = `${versions} versions, ${bytes} bytes of state`;
  print(dryRun ? `would delete ${what}` : `deleted ${what} in total`);
  for (const [reason, count] of kept) print(`kept ${count}: ${reason}`);
}
