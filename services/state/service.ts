import {
  createAuthenticationLimit,
  createProxies,
  deadlinesOf,
  openHttpPort,
} from "@statehouse/runtime";
import { defineService, type PortOptions } from "@statehouse/service";
import { bindings } from "./bindings-rpc.ts";
import { startSweeper } from "./blob/sweeper-worker.ts";
import { startVerifier } from "./blob/verification-worker.ts";
import { startBlobDeletion } from "./blob-deletion/worker.ts";
import { configSchema } from "./config.ts";
import { createApp } from "./create-app.ts";
import { startHeartbeat } from "./database-heartbeat/worker.ts";
import { startExtraction } from "./extraction/worker.ts";
import { startHousekeeping } from "./housekeeping-worker.ts";
import { migrations } from "./migrations.ts";
import { entities, listing } from "./nouns.ts";
import { createObjectHandler } from "./object/http.ts";
import { examineBlobStore, openBlobStore } from "./object/open-store.ts";
import { startCollector } from "./retention/worker.ts";
import { sealedOutputs } from "./state-version-output/store.ts";
import { consumers } from "./subscriptions-consumer.ts";

/** The state service: state versions, their outputs and resources, and their bytes. */
export const service = defineService({
  name: "state",
  config: configSchema,
  entities,
  migrations,
  clients: ["access", "workspaces"],
  app: createApp,
  resources: ({ config, logger }) => openBlobStore(config, logger),
  bindings,
  listing,
  consumers,
  workers: ({ app, resources: store }) => [
    startHeartbeat(app),
    startHousekeeping(app),
    startExtraction(app, store),
    startBlobDeletion(app, store),
    startSweeper(app, store),
    startCollector(app),
    startVerifier(app, store),
  ],
  checks: ({ resources: store }) => ({ blobs: () => store.ready() }),
  listeners({ app, resources: store, config, logger }) {
    const { idleMs, headersMs } = deadlinesOf(config);
    const bodyMs = config.BODY_TIMEOUT * 1000;
    const proxies = createProxies(config.TRUSTED_PROXIES);
    const perMinute = config.FAILED_AUTHENTICATION_LIMIT;
    const authenticationLimit = createAuthenticationLimit({ perMinute, proxies, logger });
    const handler = createObjectHandler(
      { app, store },
      { idleMs, bodyMs, proxies, authenticationLimit },
    );
    const deadlines = { headersMs, idleMs };
    const port = config.OBJECT_PORT;
    const drainMs = config.DRAIN_SECONDS * 1000;
    return {
      objects: {
        handler,
        listen: (options: PortOptions) =>
          openHttpPort({ ...options, port, drainMs, deadlines, handler }),
      },
    };
  },
  sealedColumns: [sealedOutputs],
  examine: (config) => ({ "object store": () => examineBlobStore(config) }),
});
