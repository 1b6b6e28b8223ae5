import type { AdministeredWorkspace } from "@statehouse/proto/statehouse/workspaces/v1/admin";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { embedded } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { administeredOrganizationResource } from "../organization/resource.ts";
import { runResource } from "../run/resource.ts";

/** A workspace of any organization as administrators see it. */
export const administeredWorkspaceResource = resource<AdministeredWorkspace, RequestContext>({
  type: "workspaces",
  variant: "administered",
  id: ({ id }) => id,
  attributes: {
    name: [z.string(), ({ name }) => name],
    locked: [z.boolean(), ({ locked }) => locked],
    "vcs-repo": [
      z.object({ identifier: z.string() }).nullable(),
      ({ vcsRepoIdentifier: identifier }) => (identifier === undefined ? null : { identifier }),
    ],
  },
  relationships: {
    organization: embedded({
      resource: () => administeredOrganizationResource,
      of: ({ organization }) => organization,
    }),
    "current-run": embedded({ resource: () => runResource, of: ({ currentRun }) => currentRun }),
  },
});
