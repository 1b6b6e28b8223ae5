import { pageOf } from "@statehouse/postgres";
import type { AdminService } from "@statehouse/proto/statehouse/workspaces/v1/admin";
import type { ServiceImpl } from "@statehouse/rpc";
import {
  deleteAnyOrganization,
  getAnyOrganization,
  getGeneralSettings,
  listAllOrganizations,
  updateAnyOrganization,
  updateGeneralSettings,
} from "../app/admin.ts";
import type { App } from "../app/app.ts";
import { organizationToProto } from "./organization.ts";

export const adminService = (app: App): ServiceImpl<typeof AdminService> => ({
  getGeneralSettings: async (_, { caller }) => ({
    settings: await getGeneralSettings(app, caller),
  }),
  updateGeneralSettings: async (wanted, { caller }) => {
    const { defaultRemoteStateAccess, planTimeout, applyTimeout } = wanted;
    const settings = { defaultRemoteStateAccess, planTimeout, applyTimeout };
    return { settings: await updateGeneralSettings(app, caller, settings) };
  },
  deleteAnyOrganization: async ({ name }, { caller }) => {
    await deleteAnyOrganization(app, caller, name);
    return {};
  },
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
  updateAnyOrganization: async ({ name, plan, ...request }, { caller }) => {
    const workspaceLimit = request.withoutWorkspaceLimit ? null : request.workspaceLimit;
    const wanted = { name, plan, workspaceLimit };
    return { organization: organizationToProto(await updateAnyOrganization(app, caller, wanted)) };
  },
});
