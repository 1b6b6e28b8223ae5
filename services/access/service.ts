import { defineService } from "@statehouse/service";
import { createFirstAdministrator } from "./commands/first-administrator.ts";
import { configSchema } from "./config.ts";
import { consumers } from "./consumers/consumers.ts";
import { createApp } from "./create-app.ts";
import { bindings } from "./rpc/bindings.ts";
import { loadGrants } from "./rpc/grants.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";

/** Users, tokens, teams and their grants. */
export const service = defineService({
  name: "access",
  config: configSchema,
  entities,
  migrations,
  clients: ["workspaces"],
  app: createApp,
  grants: loadGrants,
  bindings,
  consumers,
  workers: ({ app }) => [app.tokenUsage],
  afterMigration: createFirstAdministrator,
});
