import type {
  Project,
  ProjectSettingsSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/project";
import { ProjectService } from "@statehouse/proto/statehouse/workspaces/v1/project";
import { TagBindingService } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { nullableLinkage } from "../jsonapi/body.ts";
import { attributesOf, type FieldsOf, fieldsIn, type Noun } from "../jsonapi/noun.ts";
import { related, toMany, toOneOf } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText, time } from "../jsonapi/shape.ts";
import { permissionsFrom } from "../permissions-resource.ts";
import { effectiveTagBindingResource } from "../tag-binding/effective-resource.ts";
import { type TagBindingFields, tagBindingLinkages } from "../tag-binding/linkages-resource.ts";
import { timestamp } from "../timestamps-resource.ts";

export const projectPermissions = {
  "can-read": "project:read",
  "can-update": "project:update",
  "can-destroy": "project:delete",
  "can-create-workspace": "project:create-workspace",
  "can-move-workspace": "project:move-workspace",
  "can-move-stack": null,
  "can-manage-stacks": null,
  "can-view-stacks": null,
  "can-update-stacks": null,
  "can-deploy-no-code-modules": null,
  "can-read-teams": "project:read-teams",
  "can-manage-tags": "project:update",
  "can-manage-teams": "project:manage-teams",
  "can-manage-in-hcp": null,
  "can-manage-varsets": null,
  "can-manage-ephemeral-workspace-for-projects": null,
} as const;

type Settings = FieldsOf<typeof ProjectSettingsSchema>;
interface Fields extends Settings {
  name: string;
  description: string;
  tagBindings: TagBindingFields[];
}

/** The attributes that clients send for a project. Documents show further attributes. */
export const projectNoun: Noun<Fields, Project, RequestContext> = {
  type: "projects",
  attributes: {
    name: { field: "name", in: z.string() },
    description: { field: "description", in: z.string(), shown: optionalText },
    "auto-destroy-activity-duration": {
      field: "autoDestroyActivityDuration",
      in: z.string(),
      shown: optionalText,
      removable: true,
    },
    "default-execution-mode": { field: "defaultExecutionMode", in: z.string() },
    // Clients send the agent pool in this attribute, although the public documentation describes a relationship.
    "default-agent-pool-id": { field: "defaultAgentPoolId", in: z.string(), writeOnly: true },
    "setting-overwrites": {
      in: fieldsIn<Settings>({
        "default-execution-mode": { field: "overwritesDefaultExecutionMode", in: z.boolean() },
        "default-agent-pool": { field: "overwritesDefaultAgentPool", in: z.boolean() },
      }),
      out: ({ overwritesDefaultExecutionMode }) => ({
        "default-execution-mode": overwritesDefaultExecutionMode,
        "default-agent-pool": overwritesDefaultExecutionMode,
      }),
      shown: z.object({ "default-execution-mode": z.boolean(), "default-agent-pool": z.boolean() }),
    },
  },
  relationships: {
    "default-agent-pool": { field: "defaultAgentPoolId", in: nullableLinkage("agent-pools") },
    "tag-bindings": { field: "tagBindings", in: tagBindingLinkages },
  },
  pointers: {
    overwritesDefaultExecutionMode: "/data/attributes/setting-overwrites/default-execution-mode",
    overwritesDefaultAgentPool: "/data/attributes/setting-overwrites/default-agent-pool",
    tagBindings: "/data/relationships/tag-bindings/data",
    "tagBindings[]": "/data/relationships/tag-bindings/data/[]/attributes",
  },
};

export const projectResource = resource<Project, RequestContext>({
  type: "projects",
  id: ({ id }) => id,
  attributes: {
    ...attributesOf(projectNoun),
    "created-at": [time, ({ createdAt }) => timestamp(createdAt)],
    "workspace-count": [z.int().nullable(), ({ workspaceCount }) => workspaceCount ?? null],
    "is-default": [z.boolean(), ({ isDefault }) => isDefault],
    permissions: permissionsFrom(projectPermissions),
  },
  relationships: {
    organization: toOneOf({
      type: "organizations",
      idOf: ({ organizationName }) => organizationName,
      link: ({ organizationName }) => `/api/v2/organizations/${organizationName}`,
    }),
    "default-agent-pool": toOneOf({
      type: "agent-pools",
      idOf: ({ defaultAgentPoolId }) => defaultAgentPoolId,
    }),
    "tag-bindings": related(({ id }) => `/api/v2/projects/${id}/tag-bindings`),
    // A project inherits no bindings, so its effective bindings are its own. The Terraform provider reads a project's
    // tags only through this include.
    "effective-tag-bindings": toMany({
      link: ({ id }) => `/api/v2/projects/${id}/effective-tag-bindings`,
      resource: () => effectiveTagBindingResource,
      keyOf: ({ id }) => id,
      loadFor: async (projectIds, { client, caller }: RequestContext) =>
        (
          await client(TagBindingService).batchListProjectTagBindings(
            { projectIds: [...projectIds] },
            caller,
          )
        ).tagBindings,
      parentKeyOf: ({ projectId }) => projectId,
    }),
    workspaces: related(
      ({ id, organizationName }) =>
        `/api/v2/organizations/${organizationName}/workspaces?filter%5Bproject%5D%5Bid%5D=${id}`,
    ),
  },
  links: ({ id }) => ({ self: `/api/v2/projects/${id}` }),
  loadMany: async (ids, { client, caller }) =>
    (await client(ProjectService).batchGetProjects({ ids: [...ids] }, caller)).projects,
});
