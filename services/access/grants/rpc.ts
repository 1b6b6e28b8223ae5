import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  actions,
  type Grants,
  type ProjectGrant,
  principalTypes,
  type WorkspaceGrant,
} from "@statehouse/authorization";
import type {
  ActionCheck as ActionCheckMessage,
  GrantsSchema,
  GrantsService,
} from "@statehouse/proto/statehouse/access/v1/grants";
import type { GrantsLoader, ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { principalNotFound } from "../errors-domain.ts";
import { type ActionCheck, batchCheckActions, getGrants } from "./app.ts";

export const grantsService = (app: App): ServiceImpl<typeof GrantsService> => ({
  getGrants: async ({ principalType, principalId: id }) => {
    const type = principalTypes.find((known) => known === principalType);
    if (!type) throw principalNotFound();
    return { grants: grantsToProto(await getGrants(app, { type, id })) };
  },
  batchCheckActions: async ({ checks }) => {
    return { allowed: await batchCheckActions(app, checks.map(checkFromProto)) };
  },
});

/** Converts a check from its message. Omits unknown actions, because no principal is allowed to perform them. */
function checkFromProto({
  principalType,
  principalId: id,
  workspaceId,
  organizationId,
  projectId,
  actions: names,
}: ActionCheckMessage): ActionCheck {
  const type = principalTypes.find((known) => known === principalType);
  return {
    principal: type && { type, id },
    target: { workspaceId, organizationId, projectId },
    actions: actions.filter((known) => names.includes(known)),
  };
}

/** Creates the function that loads a principal's grants from the tables of this service. */
export const loadGrants =
  (app: App): GrantsLoader =>
  ({ type, id }) =>
    getGrants(app, { type, id });

const grantsToProto = ({
  principal,
  organizations,
  ...grants
}: Grants): MessageInitShape<typeof GrantsSchema> => ({
  ...grants,
  principalType: principal.type,
  principalId: principal.id,
  auditTrailOf: grants.auditTrailOf ?? "",
  organizations: [...organizations.values()].map((organization) => ({
    ...organization,
    organizationAccess: [...organization.organizationAccess],
    teamIds: [...organization.teamIds],
    projects: grantsOnTargets(organization.projects),
    workspaces: grantsOnTargets(organization.workspaces),
  })),
});

const grantsOnTargets = (
  byTarget: ReadonlyMap<string, readonly (ProjectGrant | WorkspaceGrant)[]>,
) =>
  [...byTarget].flatMap(([targetId, grants]) =>
    grants.map(({ access, permissions }) => ({ targetId, access, permissions })),
  );
