import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WorkspaceSettingsSchema } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { z } from "zod";
import type { Pointers } from "../http/pointers.ts";
import { documentBody, linkage, nullable, optional, section, typeOf } from "../jsonapi/body.ts";
import { given } from "../jsonapi/given.ts";
import { bothSpellings } from "../jsonapi/spelling.ts";
import { brandNames } from "../resources/brand-names.ts";
import { tagBindingLinkages, tagNameLinkages } from "./tag-linkages.ts";

const settings = {
  name: optional(z.string()),
  "agent-pool-id": optional(z.string()),
  "allow-destroy-plan": optional(z.boolean()),
  "assessments-enabled": optional(z.boolean()),
  "auto-apply": optional(z.boolean()),
  "auto-apply-run-trigger": optional(z.boolean()),
  "auto-destroy-at": nullable(z.string()),
  "auto-destroy-activity-duration": nullable(z.string()),
  description: optional(z.string()),
  "execution-mode": optional(z.string()),
  operations: optional(z.boolean()),
  "file-triggers-enabled": optional(z.boolean()),
  "global-remote-state": optional(z.boolean()),
  "project-remote-state": optional(z.boolean()),
  "queue-all-runs": optional(z.boolean()),
  "source-name": optional(z.string()),
  "source-url": optional(z.string()),
  "speculative-enabled": optional(z.boolean()),
  "structured-run-output-enabled": optional(z.boolean()),
  "engine-version": optional(z.string()),
  "trigger-patterns": optional(z.array(z.string())),
  "trigger-prefixes": optional(z.array(z.string())),
  "vcs-repo": nullable(
    bothSpellings(
      brandNames,
      z.object({
        identifier: optional(z.string()),
        branch: optional(z.string()),
        "ingress-submodules": optional(z.boolean()),
        "oauth-token-id": optional(z.string()),
        "vcs-app-installation-id": optional(z.string()),
        "tags-regex": optional(z.string()),
      }),
    ),
  ),
  "working-directory": optional(z.string()),
  "setting-overwrites": optional(
    z.object({
      "execution-mode": optional(z.boolean()),
      "agent-pool": optional(z.boolean()),
    }),
  ),
};

const relationships = section(
  z.object({
    project: linkage("projects"),
    tags: tagNameLinkages,
    "tag-bindings": tagBindingLinkages,
  }),
);

/** The body of a create: a name must be given. */
export const createWorkspaceBody = documentBody(
  z.object({
    type: typeOf("workspaces"),
    attributes: section(bothSpellings(brandNames, z.object({ ...settings, name: z.string() }))),
    relationships,
  }),
);

/** The body of an update: what is left out keeps its value. */
export const updateWorkspaceBody = documentBody(
  z.object({
    type: typeOf("workspaces"),
    attributes: section(bothSpellings(brandNames, z.object(settings))),
    relationships,
  }),
);

/** Where these bodies hold fields of the settings that are not the attribute of the same name. */
export const workspacePointers = {
  "vcsRepo.appInstallationId": "/data/attributes/vcs-repo/vcs-app-installation-id",
  overwritesExecutionMode: "/data/attributes/setting-overwrites/execution-mode",
  overwritesAgentPool: "/data/attributes/setting-overwrites/agent-pool",
  projectId: "/data/relationships/project",
  tagNames: "/data/relationships/tags",
  "tagNames[]": "/data/relationships/tags/data/[]/attributes/name",
  tagBindings: "/data/relationships/tag-bindings",
  "tagBindings[]": "/data/relationships/tag-bindings/data/[]/attributes",
} satisfies Pointers;

type Settings = MessageInitShape<typeof WorkspaceSettingsSchema>;

const listOf = (values: readonly string[] | undefined) => values && { values: [...values] };

type Attributes = z.infer<typeof updateWorkspaceBody>["data"]["attributes"];

const removable = {
  "auto-destroy-at": "autoDestroyAt",
  "auto-destroy-activity-duration": "autoDestroyActivityDuration",
  "vcs-repo": "vcsRepo",
} as const;

/** The settings that a body removes: null where that is not the same as leaving the attribute out. */
export const unsetSettings = ({ data: { attributes } }: z.infer<typeof updateWorkspaceBody>) =>
  (["auto-destroy-at", "auto-destroy-activity-duration", "vcs-repo"] as const)
    .filter((name) => attributes[name] === null)
    .map((name) => removable[name]);

const vcsRepoOf = (vcsRepo: Attributes["vcs-repo"]) =>
  vcsRepo
    ? given({
        identifier: vcsRepo.identifier,
        branch: vcsRepo.branch,
        ingressSubmodules: vcsRepo["ingress-submodules"],
        oauthTokenId: vcsRepo["oauth-token-id"],
        appInstallationId: vcsRepo["vcs-app-installation-id"],
        tagsRegex: vcsRepo["tags-regex"],
      })
    : undefined;

/** The settings of a body, as the workspaces service takes them. */
export function workspaceSettings({ data }: z.infer<typeof updateWorkspaceBody>): Settings {
  const { attributes, relationships } = data;
  const overwrites = attributes["setting-overwrites"];
  const tagBindings = relationships["tag-bindings"];
  return given({
    name: attributes.name,
    agentPoolId: attributes["agent-pool-id"],
    assessmentsEnabled: attributes["assessments-enabled"],
    autoDestroyAt: attributes["auto-destroy-at"] ?? undefined,
    autoDestroyActivityDuration: attributes["auto-destroy-activity-duration"] ?? undefined,
    vcsRepo: vcsRepoOf(attributes["vcs-repo"]),
    allowDestroyPlan: attributes["allow-destroy-plan"],
    autoApply: attributes["auto-apply"],
    autoApplyRunTrigger: attributes["auto-apply-run-trigger"],
    description: attributes.description,
    executionMode: attributes["execution-mode"],
    operations: attributes.operations,
    fileTriggersEnabled: attributes["file-triggers-enabled"],
    globalRemoteState: attributes["global-remote-state"],
    projectRemoteState: attributes["project-remote-state"],
    queueAllRuns: attributes["queue-all-runs"],
    sourceName: attributes["source-name"],
    sourceUrl: attributes["source-url"],
    speculativeEnabled: attributes["speculative-enabled"],
    structuredRunOutputEnabled: attributes["structured-run-output-enabled"],
    engineVersion: attributes["engine-version"],
    triggerPatterns: listOf(attributes["trigger-patterns"]),
    triggerPrefixes: listOf(attributes["trigger-prefixes"]),
    workingDirectory: attributes["working-directory"],
    overwritesExecutionMode: overwrites?.["execution-mode"],
    overwritesAgentPool: overwrites?.["agent-pool"],
    // Blank means the project it is in, or the organization's default one.
    projectId: relationships.project || undefined,
    tagNames: listOf(relationships.tags),
    tagBindings: tagBindings && { tagBindings },
  });
}
