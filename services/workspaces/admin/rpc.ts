import type { MessageInitShape } from "@bufbuild/protobuf";
import { pageOf } from "@statehouse/postgres";
import type {
  AdministeredWorkspaceSchema,
  AdminService,
} from "@statehouse/proto/statehouse/workspaces/v1/admin";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { nullIsAbsent } from "../message-rpc.ts";
import { organizationToProto } from "../organization/rpc.ts";
import { runToProto } from "../run/rpc.ts";
import { administeredWorkspaceSortKeys, sortOf } from "../workspace/domain.ts";
import {
  type AdministeredWorkspaceView,
  deleteAnyOrganization,
  getAnyOrganization,
  getGeneralSettings,
  listAllOrganizations,
  listAllWorkspaces,
  updateAnyOrganization,
  updateGeneralSettings,
} from "./app.ts";

export const adminService = (app: App): ServiceImpl<typeof AdminService> => ({
  getGeneralSettings: async (_, { caller }) => ({
    settings: await getGeneralSettings(app, caller),
  }),
  updateGeneralSettings: async (request, { caller }) => {
    const { defaultRemoteStateAccess, planTimeout, applyTimeout } = request;
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
  listAllWorkspaces: async ({ query, currentRunStatuses, sort, ...page }, { caller }) => {
    const { rows, total } = await listAllWorkspaces(app, caller, {
      query,
      currentRunStatuses,
      sort: sortOf(administeredWorkspaceSortKeys, sort),
      page: pageOf(page),
    });
    return { workspaces: rows.map(administeredWorkspaceToProto), totalCount: total };
  },
  getAnyOrganization: async ({ name }, { caller }) => ({
    organization: organizationToProto(await getAnyOrganization(app, caller, name)),
  }),
  updateAnyOrganization: async ({ name, plan, ...request }, { caller }) => {
    const workspaceLimit = request.withoutWorkspaceLimit ? null : request.workspaceLimit;
    const changes = { name, plan, workspaceLimit };
    return { organization: organizationToProto(await updateAnyOrganization(app, caller, changes)) };
  },
});

const administeredWorkspaceToProto = ({
  organization,
  currentRun,
  ...workspace
}: AdministeredWorkspaceView): MessageInitShape<typeof AdministeredWorkspaceSchema> =>
  nullIsAbsent({
    ...workspace,
    ...(organization && { organization: organizationToProto(organization) }),
    ...(currentRun && { currentRun: runToProto(currentRun) }),
  });
