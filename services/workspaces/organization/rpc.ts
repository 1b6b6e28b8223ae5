import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import { idsIn } from "@statehouse/postgres/ids";
import type {
  OrganizationSchema,
  OrganizationService,
  OrganizationSettings as SettingsMessage,
} from "@statehouse/proto/statehouse/workspaces/v1/organization";
import type { ServiceImpl } from "@statehouse/rpc";
import type { WithAllowedActions } from "../allowed-actions-app.ts";
import type { App } from "../app.ts";
import { dataRetentionPolicyToProto } from "../data-retention-policy/rpc.ts";
import { optionalAgentPoolId, organizationId } from "../ids-rpc.ts";
import { nullIsAbsent } from "../message-rpc.ts";
import { deleteOrganization } from "../organization-deletion/app.ts";
import {
  batchGetBilling,
  batchGetOrganizations,
  createOrganization,
  getOrganization,
  getOrganizationName,
  listOrganizations,
  updateOrganization,
} from "./app.ts";
import type { OrganizationSettings, OrganizationView } from "./domain.ts";

export const organizationService = (app: App): ServiceImpl<typeof OrganizationService> => ({
  createOrganization: async ({ name, email, settings, validateOnly }, { caller }) => {
    const read = settingsOf(settings);
    const organization = await createOrganization(app, caller, {
      name,
      settings: email === "" ? read : { ...read, email },
      validateOnly,
    });
    return { organization: organizationToProto(organization) };
  },
  updateOrganization: async ({ name, newName, settings, validateOnly }, { caller }) => {
    const request = { newName, settings: settingsOf(settings), validateOnly };
    const organization = await updateOrganization(app, caller, name, request);
    return { organization: organizationToProto(organization) };
  },
  deleteOrganization: async ({ name }, { caller }) => {
    await deleteOrganization(app, caller, name);
    return {};
  },
  getOrganization: async ({ name }, { caller }) => ({
    organization: organizationToProto(await getOrganization(app, caller, name)),
  }),
  listOrganizations: async ({ query, name, email, ...page }, { caller }) => {
    const search = { query, name, email, page: page.pageNumber ? pageOf(page) : undefined };
    const { organizations, total } = await listOrganizations(app, caller, search);
    return { organizations: organizations.map(organizationToProto), totalCount: total };
  },
  batchGetOrganizations: async ({ ids }, { caller }) => {
    const organizations = await batchGetOrganizations(app, caller, idsIn("org", ids));
    return { organizations: organizations.map(organizationToProto) };
  },
  getOrganizationName: async ({ organizationId: id }) => ({
    name: await getOrganizationName(app, organizationId(id)),
  }),
  batchGetBilling: async ({ organizationIds }) => ({
    billings: await batchGetBilling(app, idsIn("org", organizationIds)),
  }),
});

const settingsOf = (message: SettingsMessage | undefined): OrganizationSettings => ({
  ...message,
  defaultAgentPoolId: optionalAgentPoolId(message?.defaultAgentPoolId),
});

export function organizationToProto(
  organization: WithAllowedActions<OrganizationView>,
): MessageInitShape<typeof OrganizationSchema> {
  const { id, createdAt, dataRetentionPolicy: own, siteDataRetentionPolicy: site } = organization;
  return nullIsAbsent({
    ...organization,
    externalId: id,
    createdAt: timestampFromDate(createdAt),
    dataRetentionPolicy: own && dataRetentionPolicyToProto(own),
    siteDataRetentionPolicy: site && dataRetentionPolicyToProto(site),
  });
}
