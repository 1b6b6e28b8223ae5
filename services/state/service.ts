import {
  createAuthenticationLimit,
  createProxies,
  deadlinesOf,
  openHttpPort,
} from "@statehouse/runtime";
import { defineService, type PortOptions } from "@statehouse/service";
import { configSchema } from "./config.ts";
import { consumers } from "./consumers/consumers.ts";
import { createApp } from "./create-app.ts";
import { createObjectHandler } from "./objects/handler.ts";
import { examineBlobStore, openBlobStore } from "./objects/open-store.ts";
import { bindings } from "./rpc/bindings.ts";
import { migrations } from "./store/migrations.ts";
import { entities, listing } from "./store/nouns.ts";
import { sealedOutputs } from "./store/state-version-output.ts";
import { startBlobDeletion } from "./workers/blob-deletion.ts";
import { startCollector } from "./workers/collector.ts";
import { startExtraction } from "./workers/extraction.ts";
import { startHeartbeat } from "./workers/heartbeat.ts";
import { startHousekeeping } from "./workers/housekeeping.ts";
import { startSweeper } from "./workers/sweeper.ts";
import { startVerifier } from "./workers/verifier.ts";

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
  workers({ app, resources: store, logger }) {
    const work = { app, store, logger };
    return [
      startHeartbeat(work),
      startHousekeeping(work),
      startExtraction(work),
      startBlobDeletion(work),
      startSweeper(work),
      startCollector(work),
      startVerifier(work),
    ];
  },
  checks: ({ resources: store }) => ({ blobs: () => store.ready() }),
  listeners({ app, resources: store, config, logger }) {
    const { idleMs, headersMs } = deadlinesOf(config);
    const bodyMs = config.BODY_TIMEOUT * 1000;
    const proxies = createProxies(config.TRUSTED_PROXIES);
    const perMinute = config.FAILED_AUTHENTICATION_LIMIT;
    const authenticationLimit = createAuthenticationLimit({ perMinute, proxies, logger });
    const handler = createObjectHandler(
      { app, store, logger },
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
