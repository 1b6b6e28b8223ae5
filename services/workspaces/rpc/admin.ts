import { pageOf } from "@statehouse/postgres";
import type { AdminService } from "@statehouse/proto/statehouse/workspaces/v1/admin";
import type { ServiceImpl } from "@statehouse/rpc";
import {
  getAnyOrganization,
  getGeneralSettings,
  listAllOrganizations,
  setOrganizationPlan,
  updateGeneralSettings,
} from "../app/admin.ts";
import type { App } from "../app/app.ts";
import { organizationToProto } from "./organization.ts";

export const adminService = (app: App): ServiceImpl<typeof AdminService> => ({
  getGeneralSettings: async (_, { caller }) => ({
    settings: await getGeneralSettings(app, caller),
  }),
  updateGeneralSettings: async ({ defaultRemoteStateAccess }, { caller }) => ({
    settings: await updateGeneralSettings(
      app,
      caller,
      defaultRemoteStateAccess === undefined ? {} : { defaultRemoteStateAccess },
    ),
  }),
  listAllOrganizations: async ({ query, ...page }, { caller }) => {
    const { organizations, total } = await listAllOrganizations(app, caller, {
      query,
      page: pageOf(page),
    });
    return { organizations: organizations.map(organizationToProto), totalCount: total };
  },
  getAnyOrganization: async ({ name }, { caller }) => ({
    organization: organizationToProto(await getAnyOrganization(app, caller, name)),
  }),
  setOrganizationPlan: async ({ name, plan }, { caller }) => ({
    organization: organizationToProto(await setOrganizationPlan(app, caller, { name, plan })),
  }),
});
