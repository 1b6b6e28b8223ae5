import type { Logger } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import type { BlobStore } from "./blob-store.ts";

/** What moving state bytes needs. */
export interface Objects {
  app: App;
  store: BlobStore;
  /** Largest content that is taken, in bytes. */
  maxStateBytes: number;
  logger: Logger;
}
