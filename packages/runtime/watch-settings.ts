import { metrics } from "@opentelemetry/api";
import { settingFilesOf } from "./config.ts";
import type { Logger } from "./logger.ts";

interface WatchOptions {
  logger: Logger;
  intervalMs?: number;
  /** Called after settings were renewed, for what cannot ask for the current value. */
  onRenewal?: () => void;
}

const INTERVAL_MS = 1000;

/**
 * Reads the files of a configuration again while the service runs, so that renewable settings return the current
 * contents. Compares contents and not times. Contents that are invalid are logged and not used.
 */
export function watchSettings(
  config: object,
  { logger, intervalMs = INTERVAL_MS, onRenewal }: WatchOptions,
): Disposable {
  const files = settingFilesOf(config);
  if (!files) return { [Symbol.dispose]() {} };
  const renewals = metrics
    .getMeter("statehouse/runtime")
    .createCounter("statehouse_settings_renewals_total", {
      description: "Changes of files of settings, by outcome",
    });
  const timer = setInterval(() => {
    const found = files.check();
    if (!found) return;
    if ("problems" in found) {
      renewals.add(1, { outcome: "refused" });
      logger.error({ problems: found.problems }, "changed settings are invalid and not used");
      return;
    }
    const { renewed, needRestart } = found;
    if (renewed.length > 0) {
      renewals.add(1, { outcome: "renewed" });
      logger.info({ settings: renewed }, "settings renewed");
      onRenewal?.();
    }
    if (needRestart.length > 0) {
      renewals.add(1, { outcome: "restart-needed" });
      logger.warn({ settings: needRestart }, "changed settings take effect after a restart");
    }
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
