import type { TeamWorkspace } from "@statehouse/proto/statehouse/access/v1/team_workspace";
import type { RequestContext } from "../http/route.ts";
import { target, toOne } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { withBothSpellings } from "./brand-names.ts";
import { teamResource } from "./teams.ts";

/** A team's access to one workspace; of a fixed level the permissions are what it implies. */
export const teamWorkspaceResource = resource<TeamWorkspace, RequestContext>({
  type: "team-workspaces",
  id: ({ id }) => id,
  attributes: ({ access, permissions }) => ({ access, ...withBothSpellings(permissions ?? {}) }),
  relationships: {
    team: toOne({
      linkage: ({ teamId }) => ({ type: "teams", id: teamId }),
      links: ({ teamId }) => ({ related: `/api/v2/teams/${teamId}` }),
      targets: [
        target(
          () => teamResource,
          ({ teamId }) => teamId,
        ),
      ],
    }),
    workspace: toOne({
      linkage: ({ workspaceId }) => ({ type: "workspaces", id: workspaceId }),
      links: ({ workspaceId }) => ({ related: `/api/v2/workspaces/${workspaceId}` }),
    }),
  },
  links: ({ id }) => ({ self: `/api/v2/team-workspaces/${id}` }),
});
