import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { TagBindingService } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import type { Workspace } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { z } from "zod";
import { includedAgentPoolResource } from "../agent-pool/resource.ts";
import { configurationVersionResource } from "../configuration-version/resource.ts";
import { ownDataRetentionPolicy, retentionInWords } from "../data-retention-policy/resource.ts";
import { editionsOf } from "../http/editions.ts";
import type { RequestContext } from "../http/route.ts";
import { attributesOf, shapeOf } from "../jsonapi/noun.ts";
import { empty, emptyList, related, target, toMany, toOne } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText, optionalTime, time } from "../jsonapi/shape.ts";
import { includedOrganizationResource } from "../organization/resource.ts";
import { permissionShape } from "../permissions-resource.ts";
import { projectResource } from "../project/resource.ts";
import { runResource } from "../run/resource.ts";
import { stateVersionResource } from "../state-version/resource.ts";
import { effectiveTagBindingResource } from "../tag-binding/effective-resource.ts";
import { teamResource } from "../team/resource.ts";
import { timestamp } from "../timestamps-resource.ts";
import { userResource } from "../user/resource.ts";
import { workspaceReadmeResource } from "../workspace-readme/resource.ts";
import { workspaceNoun } from "./attributes-resource.ts";
import { workspaceOutputResource } from "./outputs-resource.ts";
import { workspacePerformance, workspacePerformanceShape } from "./performance-resource.ts";
import { workspacePermissions, workspacePermissionTable } from "./permissions-resource.ts";

const holderTypes: Readonly<Record<string, string>> = { user: "users", team: "teams", run: "runs" };

const holder = (type: string) => (workspace: Workspace) =>
  workspace.lock?.holderType === type ? workspace.lock.holderId : undefined;

const selfOf = ({ id }: Workspace) => `/api/v2/workspaces/${id}`;
const organizationOf = ({ organizationName }: Workspace) =>
  `/api/v2/organizations/${organizationName}`;

const sentAttributes = attributesOf(workspaceNoun);

/**
 * Returns the attributes that describe the effective retention policy in words. The attribute for data of runs is null,
 * because Statehouse stores no data of runs that a policy could delete.
 */
const retentionAttributes = ({ effectiveRetentionDays }: Workspace, { edition }: RequestContext) =>
  edition.has("data-retention-policies")
    ? {
        "effective-state-version-retention-desc": retentionInWords(effectiveRetentionDays),
        "effective-run-data-retention-desc": null,
      }
    : {};

/**
 * A workspace with all its attributes. Relationships to resource types that this product does not support are null or
 * empty.
 */
export const workspaceResource = resource<Workspace, RequestContext>({
  type: "workspaces",
  id: ({ id }) => id,
  shape: {
    ...shapeOf(workspaceNoun),
    environment: z.string(),
    "created-at": time,
    "updated-at": time,
    "latest-change-at": time,
    "last-assessment-result-at": z.null(),
    "auto-destroy-status": z.null(),
    locked: z.boolean(),
    "locked-reason": z.string(),
    "locked-since": optionalTime,
    "locked-stale": z.boolean().nullable(),
    "resource-count": z.int(),
    source: z.string(),
    "source-module-id": z.null(),
    "no-code-upgrade-available": z.boolean(),
    "tag-names": z.array(z.string()),
    "terraform-version": z.string(),
    "vcs-repo-identifier": optionalText,
    ...workspacePerformanceShape,
    "hyok-enabled": z.boolean(),
    "effective-state-version-retention-desc": optionalText
      .optional()
      .meta(editionsOf("data-retention-policies")),
    "effective-run-data-retention-desc": z
      .null()
      .optional()
      .meta(editionsOf("data-retention-policies")),
    permissions: permissionShape(workspacePermissionTable),
    actions: z.object({ "is-destroyable": z.boolean() }),
  },
  attributes: (workspace, context) => ({
    ...sentAttributes(workspace, context),
    ...retentionAttributes(workspace, context),
    environment: "default",
    "created-at": timestamp(workspace.createdAt),
    "updated-at": timestamp(workspace.updatedAt),
    "latest-change-at": timestamp(workspace.latestChangeAt ?? workspace.createdAt),
    "last-assessment-result-at": null,
    "auto-destroy-status": null,
    locked: workspace.lock !== undefined,
    "locked-reason": workspace.lock?.reason ?? "",
    "locked-since": timestamp(workspace.lock?.since),
    "locked-stale": workspace.lockedStale ?? null,
    "resource-count": workspace.resourceCount,
    source: "tfe-api",
    "source-module-id": null,
    "no-code-upgrade-available": false,
    "tag-names": workspace.tagNames,
    "terraform-version": workspace.engineVersion,
    "vcs-repo-identifier": workspace.vcsRepo?.identifier ?? null,
    ...workspacePerformance(workspace.performance),
    "hyok-enabled": false,
    permissions: workspacePermissions(workspace.allowedActions),
    actions: { "is-destroyable": workspace.allowDestroyPlan },
  }),
  relationships: {
    organization: toOne({
      linkage: ({ organizationName }) => ({ type: "organizations", id: organizationName }),
      // The organization is loaded by its internal id, because its name can belong to another organization by now.
      targets: [
        target(
          () => includedOrganizationResource,
          ({ organizationId }) => organizationId,
        ),
      ],
    }),
    project: toOne({
      linkage: ({ projectId }) => ({ type: "projects", id: projectId }),
      targets: [
        target(
          () => projectResource,
          ({ projectId }) => projectId,
        ),
      ],
    }),
    "locked-by": toOne({
      linkage: ({ lock }) => {
        const type = lock && holderTypes[lock.holderType];
        return type ? { type, id: lock.holderId } : null;
      },
      targets: [
        target(() => userResource, holder("user")),
        target(() => teamResource, holder("team")),
        target(() => runResource, holder("run")),
      ],
    }),
    "current-state-version": toOne({
      linkage: ({ currentStateVersionId }) =>
        currentStateVersionId ? { type: "state-versions", id: currentStateVersionId } : null,
      links: (workspace) => ({ related: `${selfOf(workspace)}/current-state-version` }),
      targets: [
        target(
          () => stateVersionResource,
          ({ currentStateVersionId }) => currentStateVersionId,
        ),
      ],
    }),
    outputs: toMany({
      // Only the state service knows the outputs, so the relationship has no data unless it is included.
      link: (workspace) => `${selfOf(workspace)}/current-state-version-outputs`,
      resource: () => workspaceOutputResource,
      keyOf: ({ id }) => id,
      loadFor: async (workspaceIds, { client, caller }: RequestContext) =>
        (
          await client(StateVersionOutputService).batchListCurrentOutputs(
            { workspaceIds: [...workspaceIds] },
            caller,
          )
        ).outputs,
      parentKeyOf: ({ workspaceId }) => workspaceId,
    }),
    "tag-bindings": related((workspace) => `${selfOf(workspace)}/tag-bindings`),
    "effective-tag-bindings": toMany({
      link: (workspace) => `${selfOf(workspace)}/effective-tag-bindings`,
      resource: () => effectiveTagBindingResource,
      keyOf: ({ id }) => id,
      loadFor: async (workspaceIds, { client, caller }: RequestContext) =>
        (
          await client(TagBindingService).batchListWorkspaceEffectiveTagBindings(
            { workspaceIds: [...workspaceIds] },
            caller,
          )
        ).tagBindings,
      parentKeyOf: ({ workspaceId }) => workspaceId,
    }),
    "remote-state-consumers": related(
      (workspace) => `${selfOf(workspace)}/relationships/remote-state-consumers`,
    ),
    "current-run": toOne({
      linkage: ({ currentRunId: id }) => (id ? { type: "runs", id } : null),
      targets: [
        target(
          () => runResource,
          ({ currentRunId }) => currentRunId,
        ),
      ],
    }),
    "latest-run": toOne({
      types: ["runs"],
      linkage: ({ latestRunId: id }) => (id ? { type: "runs", id } : null),
    }),
    "current-configuration-version": toOne({
      linkage: ({ currentConfigurationVersionId: id }) =>
        id ? { type: "configuration-versions", id } : null,
      targets: [
        target(
          () => configurationVersionResource,
          ({ currentConfigurationVersionId }) => currentConfigurationVersionId,
        ),
      ],
    }),
    "current-assessment-result": empty,
    "agent-pool": toOne({
      linkage: ({ agentPoolId: id }) => (id ? { type: "agent-pools", id } : null),
      targets: [
        target(
          () => includedAgentPoolResource,
          ({ agentPoolId }) => agentPoolId,
        ),
      ],
    }),
    "ssh-key": toOne({
      types: ["ssh-keys"],
      linkage: ({ sshKeyId: id }) => (id ? { type: "ssh-keys", id } : null),
    }),
    readme: toOne({
      linkage: ({ id, hasReadme }) => (hasReadme ? { type: "workspace-readme", id } : null),
      targets: [
        target(
          () => workspaceReadmeResource,
          ({ id, hasReadme }) => (hasReadme ? id : undefined),
        ),
      ],
    }),
    "data-retention-policy": ownDataRetentionPolicy<Workspace>(),
    vars: emptyList,
  },
  linkNames: ["self", "self-html"],
  links: (workspace) => ({
    self: `${organizationOf(workspace)}/workspaces/${workspace.name}`,
    "self-html": `/app/${workspace.organizationName}/workspaces/${workspace.name}`,
  }),
});
