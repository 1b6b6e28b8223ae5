import type { App } from "./app.ts";

/** Answers about retention that are older than `version` count no more; waits for what is under way by them. */
export const raiseRetentionVersion = (app: App, version: bigint): Promise<void> =>
  app.transaction((tx) => tx.raiseRetentionVersion(version));
