import type { StateVersion } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { JsonText } from "../jsonapi/json-text.ts";
import { embedded, fixedTarget, target, toMany, toOne } from "../jsonapi/relationship.ts";
import { type Identifier, resource } from "../jsonapi/resource.ts";
import { anyValue, optionalText, time } from "../jsonapi/shape.ts";
import { reported } from "../reported-text-resource.ts";
import { type ShownStateVersion, withRuns } from "../run/reported-resource.ts";
import { runResource } from "../run/resource.ts";
import { stateVersionOutputResource } from "../state-version-output/resource.ts";
import { teamResource } from "../team/resource.ts";
import { timestamp } from "../timestamps-resource.ts";
import { internalAccount, internalAccountResource, userResource } from "../user/resource.ts";

/** Returns whether a run created the version. Such a version has no user as its creator. */
const byRun = ({ createdByType }: StateVersion) => createdByType === "run";

function creatorOf(version: StateVersion): Identifier | null {
  if (byRun(version)) return { type: "users", id: internalAccount.id };
  const type = creatorTypes[version.createdByType];
  return type && version.createdById ? { type, id: version.createdById } : null;
}

const creatorTypes: Readonly<Record<string, string>> = { user: "users", team: "teams" };

const creator = (type: string) => (version: StateVersion) =>
  version.createdByType === type ? version.createdById : undefined;

const extracted = (json: string): unknown => (json === "" ? null : new JsonText(json));

/** The metadata of one state. Clients download the state itself from the URLs in the document. A hidden URL is null. */
export const stateVersionResource = resource<ShownStateVersion, RequestContext>({
  type: "state-versions",
  id: ({ id }) => id,
  shape: {
    "created-at": time,
    size: z.int().nullable(),
    md5: z.string(),
    serial: z.int(),
    lineage: z.string(),
    status: z.enum([
      "pending",
      "finalized",
      "discarded",
      "backing_data_soft_deleted",
      "backing_data_permanently_deleted",
    ]),
    intermediate: z.boolean(),
    "hosted-state-download-url": optionalText,
    "hosted-json-state-download-url": optionalText,
    "hosted-state-upload-url": optionalText,
    "hosted-json-state-upload-url": optionalText,
    modules: anyValue,
    providers: anyValue,
    resources: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        count: z.int(),
        module: z.string(),
        provider: z.string(),
      }),
    ),
    "resource-count": z
      .int()
      .optional()
      .describe("The number of resources, shown only if some of them are omitted."),
    "resources-processed": z.boolean(),
    "state-version": z.int().nullable(),
    "engine-version": optionalText,
    "terraform-version": optionalText,
    "billable-rum-count": z
      .int()
      .nullable()
      .optional()
      .describe("Omitted for callers who are not allowed to see how many resources are billed."),
    "vcs-commit-sha": optionalText,
    "vcs-commit-url": optionalText,
    permissions: z.object({ "can-restore-backing-data": z.boolean() }),
  },
  attributes: (version, { edition }) => ({
    "created-at": timestamp(version.createdAt),
    size: version.size === undefined ? null : Number(version.size),
    md5: version.md5,
    serial: Number(version.serial),
    lineage: version.lineage,
    status: version.status,
    intermediate: version.intermediate,
    "hosted-state-download-url": version.downloadUrl || null,
    "hosted-json-state-download-url": version.jsonDownloadUrl || null,
    "hosted-state-upload-url": version.uploadUrl || null,
    "hosted-json-state-upload-url": version.jsonUploadUrl || null,
    modules: extracted(version.modulesJson),
    providers: extracted(version.providersJson),
    resources: new JsonText(version.resourcesJson),
    // Shown only if some resources are omitted.
    "resource-count": version.omitsResources ? version.resourceEntries : undefined,
    "resources-processed": version.resourcesProcessed,
    "state-version": version.formatVersion ?? null,
    "engine-version": version.engineVersion ?? null,
    "terraform-version": version.engineVersion ?? null,
    // Omitted for callers who are not allowed to see how many resources are billed.
    "billable-rum-count": version.showsBillableResources
      ? (version.billableResourceCount ?? null)
      : undefined,
    "vcs-commit-sha": reported(version.run?.commitSha),
    "vcs-commit-url": reported(version.run?.commitUrl),
    permissions: {
      "can-restore-backing-data":
        edition.has("state-versions.backing-data-actions") &&
        version.allowedActions.includes("state:manage-backing-data"),
    },
  }),
  relationships: {
    workspace: toOne({
      types: ["workspaces"],
      linkage: ({ workspaceId }) => ({ type: "workspaces", id: workspaceId }),
      links: ({ workspaceId }) => ({ related: `/api/v2/workspaces/${workspaceId}` }),
    }),
    "created-by": toOne({
      linkage: creatorOf,
      targets: [
        target(() => userResource, creator("user")),
        target(() => teamResource, creator("team")),
        fixedTarget(() => internalAccountResource, internalAccount, byRun),
      ],
    }),
    outputs: toMany({
      link: ({ id }) => `/api/v2/state-versions/${id}/outputs`,
      resource: () => stateVersionOutputResource,
      keyOf: ({ id }) => id,
      loadFor: async (stateVersionIds, { client, caller }: RequestContext) =>
        (
          await client(StateVersionOutputService).batchListStateVersionOutputs(
            { stateVersionIds: [...stateVersionIds] },
            caller,
          )
        ).outputs,
      parentKeyOf: ({ stateVersionId }) => stateVersionId,
    }),
    // Shown only after the run was reported: a client can name a run before its runner reports it.
    run: embedded({ resource: () => runResource, of: ({ run }) => run }),
    "rollback-state-version": toOne({
      types: ["state-versions"],
      linkage: ({ rollbackStateVersionId: id }) => (id ? { type: "state-versions", id } : null),
    }),
    "previous-state-version": toOne({
      types: ["state-versions"],
      linkage: ({ previousStateVersionId: id }) => (id ? { type: "state-versions", id } : null),
    }),
    "next-state-version": toOne({
      types: ["state-versions"],
      linkage: ({ nextStateVersionId: id }) => (id ? { type: "state-versions", id } : null),
    }),
  },
  hasSecret: ({ uploadUrl, jsonUploadUrl }) => Boolean(uploadUrl || jsonUploadUrl),
  links: ({ id }) => ({ self: `/api/v2/state-versions/${id}` }),
  loadMany: async (ids, context) => {
    const { client, caller } = context;
    const found = await client(StateVersionService).batchGetStateVersions(
      { ids: [...ids] },
      caller,
    );
    return withRuns(found.stateVersions, context);
  },
});
