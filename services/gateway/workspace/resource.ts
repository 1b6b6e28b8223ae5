import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { TagBindingService } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import type { Workspace } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { z } from "zod";
import { includedAgentPoolResource } from "../agent-pool/resource.ts";
import { configurationVersionResource } from "../configuration-version/resource.ts";
import { ownDataRetentionPolicy, retentionInWords } from "../data-retention-policy/resource.ts";
import { editionsOf } from "../http/editions.ts";
import type { RequestContext } from "../http/route.ts";
import { attributesOf } from "../jsonapi/noun.ts";
import {
  empty,
  emptyList,
  related,
  target,
  toMany,
  toOne,
  toOneOf,
} from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText, optionalTime, time } from "../jsonapi/shape.ts";
import { includedOrganizationResource } from "../organization/resource.ts";
import { permissionsFrom } from "../permissions-resource.ts";
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
import { workspacePerformance } from "./performance-resource.ts";
import { workspacePermissionTable } from "./permissions-resource.ts";

const holderTypes: Readonly<Record<string, string>> = { user: "users", team: "teams", run: "runs" };

const holder = (type: string) => (workspace: Workspace) =>
  workspace.lock?.holderType === type ? workspace.lock.holderId : undefined;

const selfOf = ({ id }: Workspace) => `/api/v2/workspaces/${id}`;
const organizationOf = ({ organizationName }: Workspace) =>
  `/api/v2/organizations/${organizationName}`;

/**
 * A workspace with all its attributes. Relationships to resource types that this product does not support are null or
 * empty.
 */
export const workspaceResource = resource<Workspace, RequestContext>({
  type: "workspaces",
  id: ({ id }) => id,
  attributes: {
    ...attributesOf(workspaceNoun),
    "effective-state-version-retention-desc": [
      optionalText.optional().meta(editionsOf("data-retention-policies")),
      ({ effectiveRetentionDays }, { edition }) =>
        edition.has("data-retention-policies")
          ? retentionInWords(effectiveRetentionDays)
          : undefined,
    ],
    // Statehouse stores no data of runs that a policy could delete.
    "effective-run-data-retention-desc": [
      z.null().optional().meta(editionsOf("data-retention-policies")),
      (_, { edition }) => (edition.has("data-retention-policies") ? null : undefined),
    ],
    environment: [z.string(), () => "default"],
    "created-at": [time, ({ createdAt }) => timestamp(createdAt)],
    "updated-at": [time, ({ updatedAt }) => timestamp(updatedAt)],
    "latest-change-at": [
      time,
      ({ latestChangeAt, createdAt }) => timestamp(latestChangeAt ?? createdAt),
    ],
    "last-assessment-result-at": [z.null(), () => null],
    "auto-destroy-status": [z.null(), () => null],
    locked: [z.boolean(), ({ lock }) => lock !== undefined],
    "locked-reason": [z.string(), ({ lock }) => lock?.reason ?? ""],
    "locked-since": [optionalTime, ({ lock }) => timestamp(lock?.since)],
    "locked-stale": [z.boolean().nullable(), ({ lockedStale }) => lockedStale ?? null],
    "resource-count": [z.int(), ({ resourceCount }) => resourceCount],
    source: [z.string(), () => "tfe-api"],
    "source-module-id": [z.null(), () => null],
    "no-code-upgrade-available": [z.boolean(), () => false],
    "tag-names": [z.array(z.string()), ({ tagNames }) => tagNames],
    "terraform-version": [z.string(), ({ engineVersion }) => engineVersion],
    "vcs-repo-identifier": [optionalText, ({ vcsRepo }) => vcsRepo?.identifier ?? null],
    ...workspacePerformance,
    "hyok-enabled": [z.boolean(), () => false],
    permissions: permissionsFrom(workspacePermissionTable),
    actions: [
      z.object({ "is-destroyable": z.boolean() }),
      ({ allowDestroyPlan }) => ({ "is-destroyable": allowDestroyPlan }),
    ],
  },
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
    project: toOneOf({
      type: "projects",
      idOf: ({ projectId }) => projectId,
      resource: () => projectResource,
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
    "current-state-version": toOneOf({
      type: "state-versions",
      idOf: ({ currentStateVersionId }) => currentStateVersionId,
      link: (workspace) => `${selfOf(workspace)}/current-state-version`,
      resource: () => stateVersionResource,
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
    "current-run": toOneOf({
      type: "runs",
      idOf: ({ currentRunId }) => currentRunId,
      resource: () => runResource,
    }),
    "latest-run": toOneOf({ type: "runs", idOf: ({ latestRunId }) => latestRunId }),
    "current-configuration-version": toOneOf({
      type: "configuration-versions",
      idOf: ({ currentConfigurationVersionId }) => currentConfigurationVersionId,
      resource: () => configurationVersionResource,
    }),
    "current-assessment-result": empty,
    "agent-pool": toOneOf({
      type: "agent-pools",
      idOf: ({ agentPoolId }) => agentPoolId,
      resource: () => includedAgentPoolResource,
    }),
    "ssh-key": toOneOf({ type: "ssh-keys", idOf: ({ sshKeyId }) => sshKeyId }),
    readme: toOneOf({
      type: "workspace-readme",
      idOf: ({ id, hasReadme }) => (hasReadme ? id : undefined),
      resource: () => workspaceReadmeResource,
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
