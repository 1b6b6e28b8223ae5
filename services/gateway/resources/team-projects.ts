import type { TeamProject } from "@statehouse/proto/statehouse/access/v1/team_project";
import type { RequestContext } from "../http/route.ts";
import { target, toOne } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { withBothSpellings } from "./brand-names.ts";
import { projectResource } from "./projects.ts";
import { teamResource } from "./teams.ts";
import { timestamp } from "./timestamps.ts";

/** Those of the permissions below a prefix, without it. */
const below = (prefix: string, permissions: TeamProject["permissions"]) =>
  Object.fromEntries(
    Object.entries(permissions ?? {})
      .filter(([name]) => name.startsWith(`${prefix}.`))
      .map(([name, value]) => [name.slice(prefix.length + 1), value]),
  );

/** A team's access to a project; of a fixed level the permissions are what it implies. */
export const teamProjectResource = resource<TeamProject, RequestContext>({
  type: "team-projects",
  id: ({ id }) => id,
  attributes: ({ access, permissions, createdAt }) => ({
    access,
    "project-access": below("project-access", permissions),
    "workspace-access": withBothSpellings(below("workspace-access", permissions)),
    "created-at": timestamp(createdAt),
  }),
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
    project: toOne({
      linkage: ({ projectId }) => ({ type: "projects", id: projectId }),
      links: ({ projectId }) => ({ related: `/api/v2/projects/${projectId}` }),
      targets: [
        target(
          () => projectResource,
          ({ projectId }) => projectId,
        ),
      ],
    }),
  },
  links: ({ id }) => ({ self: `/api/v2/team-projects/${id}` }),
});
