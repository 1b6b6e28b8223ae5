import type {
  VcsRepo,
  VcsRepoSettingsSchema,
  Workspace,
  WorkspaceSettingsSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { z } from "zod";
import { brandNames } from "../brand-names-resource.ts";
import { editionsOf } from "../http/editions.ts";
import type { RequestContext } from "../http/route.ts";
import { linkage, listOf } from "../jsonapi/body.ts";
import { type FieldsOf, fieldsIn, type Noun } from "../jsonapi/noun.ts";
import { deprecated, optionalText, optionalTime } from "../jsonapi/shape.ts";
import { bothSpellings } from "../jsonapi/spelling.ts";
import { tagBindingLinkages, tagNameLinkages } from "../tag-binding/linkages-resource.ts";
import { timestamp } from "../timestamps-resource.ts";

const vcsRepo = bothSpellings(
  brandNames,
  fieldsIn<FieldsOf<typeof VcsRepoSettingsSchema>>({
    identifier: { field: "identifier", in: z.string() },
    branch: { field: "branch", in: z.string() },
    "ingress-submodules": { field: "ingressSubmodules", in: z.boolean() },
    "oauth-token-id": { field: "oauthTokenId", in: z.string() },
    "vcs-app-installation-id": { field: "appInstallationId", in: z.string() },
    "tags-regex": { field: "tagsRegex", in: z.string() },
  }),
);

const vcsRepoShape = z.object({
  identifier: z.string(),
  "display-identifier": z.string(),
  branch: z.string(),
  "ingress-submodules": z.boolean(),
  "oauth-token-id": optionalText,
  "vcs-app-installation-id": optionalText,
  "github-app-installation-id": optionalText,
  "tags-regex": optionalText,
});

const showVcsRepo = (repository: VcsRepo) => ({
  identifier: repository.identifier,
  "display-identifier": repository.identifier,
  branch: repository.branch,
  "ingress-submodules": repository.ingressSubmodules,
  "oauth-token-id": repository.oauthTokenId ?? null,
  "vcs-app-installation-id": repository.appInstallationId ?? null,
  "github-app-installation-id": repository.appInstallationId ?? null,
  "tags-regex": repository.tagsRegex ?? null,
});

type Settings = FieldsOf<typeof WorkspaceSettingsSchema>;

const texts = listOf(z.string()).transform((values) => ({ values }));

/** The attributes that clients send for a workspace. Documents show further attributes. */
export const workspaceNoun: Noun<Settings, Workspace, RequestContext> = {
  type: "workspaces",
  checksType: true,
  attributes: {
    name: { field: "name", in: z.string() },
    "agent-pool-id": { field: "agentPoolId", in: z.string(), shown: optionalText },
    "allow-destroy-plan": { field: "allowDestroyPlan", in: z.boolean() },
    "assessments-enabled": {
      field: "assessmentsEnabled",
      in: z.boolean(),
      out: ({ assessmentsEnabled }, { edition }) =>
        edition.has("workspaces.assessments-enabled") ? assessmentsEnabled : undefined,
      shown: z.boolean().optional().meta(editionsOf("workspaces.assessments-enabled")),
    },
    "auto-apply": { field: "autoApply", in: z.boolean() },
    "auto-apply-run-trigger": { field: "autoApplyRunTrigger", in: z.boolean() },
    "auto-destroy-at": {
      field: "autoDestroyAt",
      in: z.string(),
      removable: true,
      out: ({ autoDestroyAt }) => (autoDestroyAt ? timestamp(autoDestroyAt) : null),
      shown: optionalTime,
    },
    "auto-destroy-activity-duration": {
      field: "autoDestroyActivityDuration",
      in: z.string(),
      shown: optionalText,
      removable: true,
    },
    "inherits-project-auto-destroy": { field: "inheritsProjectAutoDestroy", in: z.boolean() },
    description: { field: "description", in: z.string(), shown: optionalText },
    "execution-mode": { field: "executionMode", in: z.string() },
    operations: {
      field: "operations",
      in: deprecated(z.boolean(), "execution-mode"),
      out: ({ executionMode }) => executionMode !== "local",
      shown: deprecated(z.boolean(), "execution-mode"),
    },
    "file-triggers-enabled": { field: "fileTriggersEnabled", in: z.boolean() },
    "global-remote-state": { field: "globalRemoteState", in: z.boolean() },
    "project-remote-state": { field: "projectRemoteState", in: z.boolean() },
    "queue-all-runs": { field: "queueAllRuns", in: z.boolean() },
    "setting-overwrites": {
      in: fieldsIn<Settings>({
        "execution-mode": { field: "overwritesExecutionMode", in: z.boolean() },
        "agent-pool": { field: "overwritesAgentPool", in: z.boolean() },
      }),
      out: ({ overwritesExecutionMode, overwritesAgentPool }) => ({
        "execution-mode": overwritesExecutionMode,
        "agent-pool": overwritesAgentPool,
      }),
      shown: z.object({ "execution-mode": z.boolean(), "agent-pool": z.boolean() }),
    },
    "source-name": { field: "sourceName", in: z.string(), shown: optionalText },
    "source-url": { field: "sourceUrl", in: z.string(), shown: optionalText },
    "speculative-enabled": { field: "speculativeEnabled", in: z.boolean() },
    "structured-run-output-enabled": { field: "structuredRunOutputEnabled", in: z.boolean() },
    "engine-version": { field: "engineVersion", in: z.string() },
    "trigger-patterns": { field: "triggerPatterns", in: texts, shown: z.array(z.string()) },
    "trigger-prefixes": { field: "triggerPrefixes", in: texts, shown: z.array(z.string()) },
    "vcs-repo": {
      field: "vcsRepo",
      in: vcsRepo,
      removable: true,
      out: ({ vcsRepo }) => (vcsRepo ? showVcsRepo(vcsRepo) : null),
      shown: vcsRepoShape.nullable(),
    },
    "working-directory": { field: "workingDirectory", in: z.string(), shown: optionalText },
  },
  relationships: {
    // An empty id is treated as absent: the workspace keeps its project, and a new workspace gets the organization's
    // default project.
    project: { field: "projectId", in: linkage("projects").transform((id) => id || undefined) },
    tags: { field: "tagNames", in: tagNameLinkages.transform((values) => values && { values }) },
    "tag-bindings": {
      field: "tagBindings",
      in: tagBindingLinkages.transform((tagBindings) => tagBindings && { tagBindings }),
    },
  },
  spellings: brandNames,
  pointers: {
    "vcsRepo.appInstallationId": "/data/attributes/vcs-repo/vcs-app-installation-id",
    overwritesExecutionMode: "/data/attributes/setting-overwrites/execution-mode",
    overwritesAgentPool: "/data/attributes/setting-overwrites/agent-pool",
    "tagNames[]": "/data/relationships/tags/data/[]/attributes/name",
    "tagBindings[]": "/data/relationships/tag-bindings/data/[]/attributes",
  },
};
