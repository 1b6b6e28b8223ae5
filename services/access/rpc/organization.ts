import type { OrganizationAccessService } from "@statehouse/proto/statehouse/access/v1/organization";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  dropOrganization,
  provisionOrganization,
  setOrganizationSettings,
} from "../app/organization.ts";
import { readUserId } from "../domain/ids.ts";
import type { Context } from "./context.ts";

export const organizationAccessService = (
  app: App,
): ServiceImpl<typeof OrganizationAccessService, Context> => ({
  provisionOrganization: async ({ organizationId, creatorUserId, version }) => ({
    ownersTeamId: await provisionOrganization(app, {
      organizationId,
      creatorUserId: readUserId(creatorUserId),
      version,
    }),
  }),
  dropOrganization: async ({ organizationId }) => {
    await dropOrganization(app, organizationId);
    return {};
  },

  setOrganizationSettings: async ({ organizationId, userTokensEnabled, version }) => {
    await setOrganizationSettings(app, { organizationId, userTokensEnabled, version });
    return {};
  },
});
