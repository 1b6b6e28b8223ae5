import { metrics } from "@opentelemetry/api";
import { settingFilesOf } from "./config.ts";
import type { FollowedFiles, Renewal } from "./followed-files.ts";
import type { Logger } from "./logger.ts";

interface WatchOptions {
  logger: Logger;
  /** Files that are followed in addition to those of the configuration. */
  files?: readonly (FollowedFiles | undefined)[];
  intervalMs?: number;
}

const INTERVAL_MS = 1000;

/**
 * Reads the files of a configuration again while the service runs, so that renewable settings return the current
 * contents. Compares the contents of files, not their modification times. Contents that are invalid are logged and not
 * used.
 */
export function watchSettings(
  config: object,
  { logger, files: others = [], intervalMs = INTERVAL_MS }: WatchOptions,
): Disposable {
  const files = [settingFilesOf(config), ...others].filter((found) => found !== undefined);
  if (files.length === 0) return { [Symbol.dispose]() {} };
  const renewals = metrics
    .getMeter("statehouse/runtime")
    .createCounter("statehouse_settings_renewals_total", {
      description: "Changes of settings files, by outcome",
    });
  const report = (found: Renewal) => {
    if ("problems" in found) {
      renewals.add(1, { outcome: "refused" });
      logger.error({ problems: found.problems }, "changed settings are invalid and not used");
      return;
    }
    const { renewed, needRestart } = found;
    if (renewed.length > 0) {
      renewals.add(1, { outcome: "renewed" });
      logger.info({ settings: renewed }, "settings renewed");
    }
    if (needRestart.length > 0) {
      renewals.add(1, { outcome: "restart-needed" });
      logger.warn({ settings: needRestart }, "changed settings take effect after a restart");
    }
  };
  const timer = setInterval(() => {
    for (const followed of files) {
      const found = followed.check();
      if (found) report(found);
    }
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
