import type { Logger } from "@statehouse/runtime";
import type { App } from "../app.ts";
import type { BlobStore } from "./store.ts";

/** The dependencies of the object server and the commands that transfer state bytes. */
export interface Objects {
  app: App;
  store: BlobStore;
  logger: Logger;
}
