import type { JsonObject } from "@bufbuild/protobuf";
import {
  type Grants,
  type OrganizationGrants,
  type PermissionsOf,
  type PermissionTable,
  permissionTables,
} from "@statehouse/authorization";
import {
  type Grants as GrantsMessage,
  GrantsService,
  type TargetGrant,
} from "@statehouse/proto/statehouse/access/v1/grants";
import type { CallOptions } from "./assertion.ts";
import type { GrantsLoader } from "./caller.ts";
import type { Channel } from "./channel.ts";
import { createClient } from "./client.ts";

/** Creates a loader that reads grants from the access service. */
export function grantsFromAccess(access: Channel, identity: CallOptions): GrantsLoader {
  const client = createClient(GrantsService, access, identity);
  return async ({ type, id }) => {
    const { grants } = await client.getGrants({ principalType: type, principalId: id });
    if (!grants) throw new Error("the response of the access service contains no grants");
    return grantsFromProto(grants);
  };
}

const principalType = (type: string): Grants["principal"]["type"] => {
  if (type === "user" || type === "team" || type === "organization" || type === "run") return type;
  throw new Error(`the access service returned the unknown principal type ${type}`);
};

type Values = PermissionTable["values"];

/**
 * Returns the known permissions. A newer release of the access service can send permissions and values that are unknown
 * here; they have no effect.
 */
const knownPermissions = <Of extends Values>(values: Of, permissions: JsonObject = {}) =>
  Object.fromEntries(
    Object.entries(permissions).filter(
      ([name, value]) => Object.hasOwn(values, name) && values[name]?.includes(value),
    ),
  ) as Partial<PermissionsOf<Of>>;

/** Groups the grants of one organization by the id of their target. */
const byTarget = <Of extends Values>({ values }: { values: Of }, grants: readonly TargetGrant[]) =>
  Map.groupBy(
    grants.map(({ targetId, access, permissions }) => ({
      targetId,
      access,
      permissions: knownPermissions(values, permissions),
    })),
    ({ targetId }) => targetId,
  );

export const grantsFromProto = (message: GrantsMessage): Grants => ({
  principal: { type: principalType(message.principalType), id: message.principalId },
  versions: message.versions,
  administrator: message.administrator,
  auditTrailOf: message.auditTrailOf || undefined,
  organizations: new Map(
    message.organizations.map((organization): [string, OrganizationGrants] => [
      organization.organizationId,
      {
        organizationId: organization.organizationId,
        owner: organization.owner,
        organizationAccess: new Set(organization.organizationAccess),
        teamIds: organization.teamIds,
        projects: byTarget(permissionTables.project, organization.projects),
        workspaces: byTarget(permissionTables.workspace, organization.workspaces),
        refused: organization.refused,
      },
    ]),
  ),
});
