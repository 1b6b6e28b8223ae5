import type { StateVersion } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { JsonText } from "../jsonapi/json-text.ts";
import { embedded, fixedTarget, target, toMany, toOne, toOneOf } from "../jsonapi/relationship.ts";
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
  attributes: {
    "created-at": [time, ({ createdAt }) => timestamp(createdAt)],
    size: [z.int().nullable(), ({ size }) => (size === undefined ? null : Number(size))],
    md5: [z.string(), ({ md5 }) => md5],
    serial: [z.int(), ({ serial }) => Number(serial)],
    lineage: [z.string(), ({ lineage }) => lineage],
    status: [
      z.enum([
        "pending",
        "finalized",
        "discarded",
        "backing_data_soft_deleted",
        "backing_data_permanently_deleted",
      ]),
      ({ status }) => status,
    ],
    intermediate: [z.boolean(), ({ intermediate }) => intermediate],
    "hosted-state-download-url": [optionalText, ({ downloadUrl }) => downloadUrl || null],
    "hosted-json-state-download-url": [
      optionalText,
      ({ jsonDownloadUrl }) => jsonDownloadUrl || null,
    ],
    "hosted-state-upload-url": [optionalText, ({ uploadUrl }) => uploadUrl || null],
    "hosted-json-state-upload-url": [optionalText, ({ jsonUploadUrl }) => jsonUploadUrl || null],
    modules: [anyValue, ({ modulesJson }) => extracted(modulesJson)],
    providers: [anyValue, ({ providersJson }) => extracted(providersJson)],
    resources: [
      z.array(
        z.object({
          name: z.string(),
          type: z.string(),
          count: z.int(),
          module: z.string(),
          provider: z.string(),
        }),
      ),
      ({ resourcesJson }) => new JsonText(resourcesJson),
    ],
    // Shown only if some resources are omitted.
    "resource-count": [
      z
        .int()
        .optional()
        .describe("The number of resources, shown only if some of them are omitted."),
      ({ omitsResources, resourceEntries }) => (omitsResources ? resourceEntries : undefined),
    ],
    "resources-processed": [z.boolean(), ({ resourcesProcessed }) => resourcesProcessed],
    "state-version": [z.int().nullable(), ({ formatVersion }) => formatVersion ?? null],
    "engine-version": [optionalText, ({ engineVersion }) => engineVersion ?? null],
    "terraform-version": [optionalText, ({ engineVersion }) => engineVersion ?? null],
    // Omitted for callers who are not allowed to see how many resources are billed.
    "billable-rum-count": [
      z
        .int()
        .nullable()
        .optional()
        .describe("Omitted for callers who are not allowed to see how many resources are billed."),
      ({ showsBillableResources, billableResourceCount }) =>
        showsBillableResources ? (billableResourceCount ?? null) : undefined,
    ],
    "vcs-commit-sha": [optionalText, ({ run }) => reported(run?.commitSha)],
    "vcs-commit-url": [optionalText, ({ run }) => reported(run?.commitUrl)],
    permissions: [
      z.object({ "can-restore-backing-data": z.boolean() }),
      ({ allowedActions }, { edition }) => ({
        "can-restore-backing-data":
          edition.has("state-versions.backing-data-actions") &&
          allowedActions.includes("state:manage-backing-data"),
      }),
    ],
  },
  relationships: {
    workspace: toOneOf({
      type: "workspaces",
      idOf: ({ workspaceId }) => workspaceId,
      link: ({ workspaceId }) => `/api/v2/workspaces/${workspaceId}`,
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
    "rollback-state-version": toOneOf({
      type: "state-versions",
      idOf: ({ rollbackStateVersionId }) => rollbackStateVersionId,
    }),
    "previous-state-version": toOneOf({
      type: "state-versions",
      idOf: ({ previousStateVersionId }) => previousStateVersionId,
    }),
    "next-state-version": toOneOf({
      type: "state-versions",
      idOf: ({ nextStateVersionId }) => nextStateVersionId,
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
