import type { RetentionService } from "@statehouse/proto/statehouse/state/v1/retention";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { raiseRetentionVersion } from "./scan-app.ts";

/** Only the workspaces service calls these methods. */
export const retentionService = (app: App): ServiceImpl<typeof RetentionService> => ({
  raiseRetentionVersion: async ({ version }) => {
    await raiseRetentionVersion(app, version);
    return {};
  },
});
