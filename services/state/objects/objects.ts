import type { Logger } from "@statehouse/runtime";
import type { App } from "../app/app.ts";
import type { BlobStore } from "./blob-store.ts";

/** The dependencies of moving state bytes. */
export interface Objects {
  app: App;
  store: BlobStore;
  logger: Logger;
}
