import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres/paging";
import type {
  TeamAccessSchema,
  TeamAccessService,
} from "@statehouse/proto/statehouse/access/v1/team_access";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { unknownTargetType } from "../errors-domain.ts";
import type { TeamAccessId } from "../ids-domain.ts";
import { projectId, teamId, teamProjectId, teamWorkspaceId, workspaceId } from "../ids-rpc.ts";
import {
  createTeamAccess,
  deleteTeamAccess,
  getTeamAccess,
  listTeamAccess,
  updateTeamAccess,
} from "./app.ts";
import type { TargetType, TeamAccess, TeamAccessTarget } from "./domain.ts";

export const teamAccessService = (app: App): ServiceImpl<typeof TeamAccessService> => ({
  createTeamAccess: async ({ access, permissions = {}, ...request }, { caller }) => ({
    teamAccess: teamAccessToProto(
      await createTeamAccess(app, caller, {
        teamId: teamId(request.teamId),
        target: targetOf(request),
        access,
        permissions,
      }),
    ),
  }),

  getTeamAccess: async (request, { caller }) => ({
    teamAccess: teamAccessToProto(await getTeamAccess(app, caller, grantId(request))),
  }),

  listTeamAccess: async (request, { caller }) => {
    const { rows, total } = await listTeamAccess(app, caller, {
      target: targetOf(request),
      teamId: request.teamId,
      page: pageOf(request),
    });
    return { teamAccess: rows.map(teamAccessToProto), totalCount: total };
  },

  updateTeamAccess: async ({ access, permissions = {}, ...request }, { caller }) => ({
    teamAccess: teamAccessToProto(
      await updateTeamAccess(app, caller, { id: grantId(request), access, permissions }),
    ),
  }),

  deleteTeamAccess: (request, { caller }) => deleteTeamAccess(app, caller, grantId(request)),
});

/** Returns the target type with this name. Throws `badRequest` if it is unknown. */
function targetTypeOf(text: string): TargetType {
  if (text !== "project" && text !== "workspace") throw unknownTargetType();
  return text;
}

const targetOf = ({
  targetType,
  targetId,
}: {
  targetType: string;
  targetId: string;
}): TeamAccessTarget =>
  targetTypeOf(targetType) === "workspace"
    ? { targetType: "workspace", targetId: workspaceId(targetId) }
    : { targetType: "project", targetId: projectId(targetId) };

/** Returns the id of a grant, whose prefix must be that of its target type. Throws `badRequest` and `notFound`. */
const grantId = ({ targetType, id }: { targetType: string; id: string }): TeamAccessId =>
  targetTypeOf(targetType) === "workspace" ? teamWorkspaceId(id) : teamProjectId(id);

const teamAccessToProto = ({
  permissions,
  createdAt,
  ...teamAccess
}: TeamAccess): MessageInitShape<typeof TeamAccessSchema> => ({
  ...teamAccess,
  // The values of permissions are strings and booleans only.
  permissions: permissions as JsonObject,
  createdAt: timestampFromDate(createdAt),
});
