import type { OrganizationAccessService } from "@statehouse/proto/statehouse/access/v1/organization";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { organizationId, userId } from "../ids-rpc.ts";
import { dropOrganization, provisionOrganization, setOrganizationSettings } from "./app.ts";

export const organizationAccessService = (
  app: App,
): ServiceImpl<typeof OrganizationAccessService> => ({
  provisionOrganization: async (request) => ({
    ownersTeamId: await provisionOrganization(app, {
      organizationId: organizationId(request.organizationId),
      creatorUserId: userId(request.creatorUserId),
      version: request.version,
      userTokensEnabled: request.userTokensEnabled ?? true,
      maxTtlEnabled: request.maxTtlEnabled ?? false,
    }),
  }),

  dropOrganization: (request) => dropOrganization(app, organizationId(request.organizationId)),

  setOrganizationSettings: (request) =>
    setOrganizationSettings(app, {
      ...request,
      organizationId: organizationId(request.organizationId),
    }),
});
