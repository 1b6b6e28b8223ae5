import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  OrganizationSchema,
  OrganizationService,
} from "@statehouse/proto/statehouse/workspaces/v1/organization";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  batchGetOrganizations,
  createOrganization,
  getOrganization,
  listOrganizations,
} from "../app/organization.ts";
import type { Shown } from "../app/shown.ts";
import type { OrganizationView } from "../domain/organization-view.ts";
import type { Context } from "./context.ts";
import { idsIn } from "./ids.ts";
import { pageOf } from "./page.ts";

export const organizationService = (
  app: App,
): ServiceImpl<typeof OrganizationService, Context> => ({
  createOrganization: async ({ name, email }, { caller }) => ({
    organization: organizationToProto(await createOrganization(app, caller, { name, email })),
  }),
  getOrganization: async ({ name }, { caller }) => ({
    organization: organizationToProto(await getOrganization(app, caller, name)),
  }),
  listOrganizations: async ({ query, ...page }, { caller }) => {
    const wanted = { query, page: page.pageNumber === 0 ? undefined : pageOf(page) };
    const { organizations, total } = await listOrganizations(app, caller, wanted);
    return { organizations: organizations.map(organizationToProto), totalCount: total };
  },
  batchGetOrganizations: async ({ ids }, { caller }) => {
    const organizations = await batchGetOrganizations(app, caller, idsIn(ids));
    return { organizations: organizations.map(organizationToProto) };
  },
});

const organizationToProto = ({
  createdAt,
  ...organization
}: Shown<OrganizationView>): MessageInitShape<typeof OrganizationSchema> => ({
  ...organization,
  externalId: organization.id,
  createdAt: timestampFromDate(createdAt),
});
