import {
  type Grants,
  type OrganizationGrants,
  permissionValues,
  workspacePermissionValues,
} from "@statehouse/authorization";
import {
  type Grants as GrantsMessage,
  GrantsService,
} from "@statehouse/proto/statehouse/access/v1/grants";
import type { CallOptions } from "./assertion.ts";
import type { GrantsLoader } from "./caller.ts";
import type { Channel } from "./channel.ts";
import { createClient } from "./client.ts";

/** Loads grants from the service access. */
export function grantsFromAccess(access: Channel, identity: CallOptions): GrantsLoader {
  const client = createClient(GrantsService, access, identity);
  return async ({ type, id }) => {
    const { grants } = await client.getGrants({ principalType: type, principalId: id });
    if (!grants) throw new Error("access answered without grants");
    return grantsFromProto(grants);
  };
}

const principalType = (type: string): Grants["principal"]["type"] => {
  if (type === "user" || type === "team" || type === "organization" || type === "run") return type;
  throw new Error(`access knows a principal of type ${type}`);
};

/** What each permission can be, weakest first. */
type Values = Readonly<Record<string, readonly unknown[]>>;
type Permissions<Of extends Values> = { [P in keyof Of]?: Of[P][number] };

/** The value of a permission as its text; booleans travel as `true` and `false`. */
const permissionsFromProto = <Of extends Values>(of: Of, texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(of).flatMap(([permission, values]) => {
      const value = values.find((known) => String(known) === texts[permission]);
      return value === undefined ? [] : [[permission, value]];
    }),
  ) as Permissions<Of>;

export const grantsFromProto = (message: GrantsMessage): Grants => ({
  principal: { type: principalType(message.principalType), id: message.principalId },
  versions: message.versions,
  administrator: message.administrator,
  organizations: new Map(
    message.organizations.map((organization): [string, OrganizationGrants] => [
      organization.organizationId,
      {
        organizationId: organization.organizationId,
        owner: organization.owner,
        organizationAccess: new Set(organization.organizationAccess),
        teamIds: organization.teamIds,
        projects: Map.groupBy(
          organization.projects.map(({ projectId, access, permissions }) => ({
            projectId,
            access,
            permissions: permissionsFromProto(permissionValues, permissions),
          })),
          ({ projectId }) => projectId,
        ),
        workspaces: Map.groupBy(
          organization.workspaces.map(({ workspaceId, access, permissions }) => ({
            workspaceId,
            access,
            permissions: permissionsFromProto(workspacePermissionValues, permissions),
          })),
          ({ workspaceId }) => workspaceId,
        ),
        refused: organization.refused,
      },
    ]),
  ),
});
