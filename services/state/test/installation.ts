import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger, type EditionName } from "@statehouse/runtime";
import { newKeyRing, newServiceKeys } from "@statehouse/testing";
import { configSchema } from "../config.ts";
import { migrations } from "../migrations.ts";
import { startServiceFakes } from "./service-fakes.ts";

/** Returns the environment of the service: a separate database, keys, and stubs of the other services. */
export async function install(
  settings: { edition?: EditionName; environment?: Record<string, string> } = {},
) {
  await using starting = new AsyncDisposableStack();
  const fresh = starting.use(await freshDatabase({ contextName: "state", migrations }));
  const {
    publicKeys: keys,
    identities,
    settingsOf,
  } = await newServiceKeys("gateway", "access", "workspaces", "state");
  const logger = createLogger({ service: "state", level: "silent" });
  const others = starting.use(startServiceFakes({ keys, logger }));
  const config = configSchema.parse({
    DATABASE_URL: fresh.url,
    PUBLIC_URL: "https://state.example/",
    EDITION: settings.edition,
    ...settingsOf("state"),
    UPLOAD_TOKEN_KEYS: newKeyRing(),
    SEALING_KEYS: newKeyRing(),
    // No delay, because most tests observe that bytes are deleted from the store.
    BLOB_DELETION_DELAY: "0",
    ...settings.environment,
  });
  const installed = starting.move();
  return {
    config,
    identities,
    keys,
    logger,
    fakes: others,
    [Symbol.asyncDispose]: () => installed.disposeAsync(),
  };
}
