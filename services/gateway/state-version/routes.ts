import type { CreateStateVersionResponse } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { WorkspaceService } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import type { ObjectUpload } from "../http/object-upload.ts";
import { page } from "../http/paging.ts";
import { requiredText, text } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import { type RequestContext, type Route, route } from "../http/route.ts";
import { withRun, withRunIfReported, withRuns } from "../run/reported-resource.ts";
import { createStateVersionBody, rollbackStateVersionBody } from "./body-routes.ts";
import { stateVersionChangesResource } from "./changes-resource.ts";
import { stateVersionResource } from "./resource.ts";

const includes = [
  "created_by",
  "outputs",
  "run",
  "run.created_by",
  "run.configuration_version",
] as const;

/**
 * The interval in seconds at which the CLI sends snapshots during an apply. Responses contain this interval in a
 * header, but only in some editions.
 */
const SNAPSHOT_INTERVAL = "20";
const headers = (edition: RequestContext["edition"]): Readonly<Record<string, string>> =>
  edition.has("header.snapshot-interval")
    ? { "X-Terraform-Snapshot-Interval": SNAPSHOT_INTERVAL }
    : {};

/**
 * Uploads inline state in the same way as other state, so that the state service needs no memory for it. If the client
 * repeats a request after a lost response, the version is already finalized and the raw state is not uploaded again.
 * After an interrupted upload, the missing bytes are uploaded. Returns whether anything was uploaded.
 */
async function putInline(
  objects: ObjectUpload,
  created: CreateStateVersionResponse,
  inline: { state: Uint8Array | undefined; jsonState: Uint8Array | undefined },
): Promise<boolean> {
  const { state: raw, jsonState } = inline;
  const sendsState = raw !== undefined && created.stateVersion?.status === "pending";
  // The raw state is uploaded last, because it finalizes the version.
  if (jsonState) await objects.put(created.internalJsonUploadPath, jsonState);
  if (sendsState) await objects.put(created.internalUploadPath, raw);
  return sendsState || jsonState !== undefined;
}

export const stateVersionRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/workspaces/:workspaceId/state-versions",
    summary: "Create a state version",
    body: createStateVersionBody,
    maxBodyBytes: Number.POSITIVE_INFINITY,
    pointers: {
      // An error in `run` points at the whole linkage, for example when the run belongs to another workspace.
      run: "/data/relationships/run",
      runId: "/data/relationships/run/data/id",
      inlineSize: "/data/attributes/state",
      inlineJsonSize: "/data/attributes/json-state",
    },
    success: [201, one(stateVersionResource, "stateVersion")],
    failures: [404, 409, 412, 413, 422, 503],
    credentials: ["user", "team", "run"],
    headers,
    handle: async ({ client, objects, runs, params, body, caller }) => {
      const { attributes, relationships } = body.data;
      const { state: inlineState, "json-state": jsonState } = attributes;
      const created = await client(StateVersionService).createStateVersion(
        {
          workspaceId: params.workspaceId,
          serial: BigInt(attributes.serial),
          md5: attributes.md5.toLowerCase(),
          lineage: attributes.lineage ?? "",
          force: attributes.force ?? false,
          inlineSize: inlineState && BigInt(inlineState.length),
          inlineJsonSize: jsonState && BigInt(jsonState.length),
          jsonStateOutputs: attributes["json-state-outputs"],
          runId: relationships.run || undefined,
        },
        caller,
      );
      const put = await putInline(objects, created, { state: inlineState, jsonState });
      if (!put || !created.stateVersion) return withRunIfReported(created, { runs });
      const { id } = created.stateVersion;
      const stored = await client(StateVersionService).getStateVersion({ id }, caller);
      return withRunIfReported(stored, { runs });
    },
  }),
  route({
    method: "PATCH",
    path: "/workspaces/:workspaceId/state-versions",
    summary: "Roll a workspace back to an earlier state version",
    body: rollbackStateVersionBody,
    pointers: { rollbackStateVersionId: "/data/relationships/rollback-state-version" },
    success: [201, one(stateVersionResource, "stateVersion")],
    failures: [404, 409, 422],
    credentials: ["user", "team", "run"],
    headers,
    handle: async ({ client, runs, params, body, caller }) => {
      const rollbackStateVersionId = body.data.relationships["rollback-state-version"];
      const request = { ...params, rollbackStateVersionId };
      const created = await client(StateVersionService).rollbackStateVersion(request, caller);
      return withRunIfReported(created, { runs });
    },
  }),
  route({
    method: "GET",
    path: "/state-versions",
    summary: "List a workspace's state versions, newest first",
    includes,
    query: {
      page,
      name: requiredText("filter[workspace][name]", "The name of the workspace."),
      organizationName: requiredText(
        "filter[organization][name]",
        "The name of the workspace's organization.",
      ),
      status: text("filter[status]", "Only state versions with this status."),
    },
    success: [200, list(stateVersionResource, "stateVersions")],
    failures: [400, 404],
    headers,
    handle: async ({ client, runs, query, caller }) => {
      const { page, name, organizationName, status } = query;
      // The workspace is requested every time, because a name can move from one workspace to another.
      const { workspaceId } = await client(WorkspaceService).getWorkspaceId(
        { workspace: { organizationName, name } },
        caller,
      );
      const { stateVersions, totalCount } = await client(StateVersionService).listStateVersions(
        { workspaceId, status, ...page },
        caller,
      );
      return { stateVersions: await withRuns(stateVersions, { runs }), totalCount };
    },
  }),
  route({
    method: "GET",
    path: "/state-versions/:stateVersionId",
    summary: "Show a state version",
    includes,
    success: [200, one(stateVersionResource, "stateVersion")],
    failures: [400, 404],
    headers,
    handle: async ({ client, runs, params: { stateVersionId: id }, caller }) =>
      withRun(await client(StateVersionService).getStateVersion({ id }, caller), { runs }),
  }),
  route({
    method: "GET",
    path: "/state-versions/:stateVersionId/changes",
    summary: "Compare a state version with another one of the same workspace",
    query: {
      sinceId: requiredText("filter[since]", "The id of the other state version."),
    },
    success: [200, one(stateVersionChangesResource, "comparison")],
    failures: [400, 404, 409],
    handle: async ({ client, params: { stateVersionId }, query: { sinceId }, caller }) => {
      const request = { id: stateVersionId, sinceId };
      const changes = await client(StateVersionService).compareStateVersions(request, caller);
      return { comparison: { stateVersionId, sinceId, changes } };
    },
  }),
  route({
    method: "GET",
    path: "/workspaces/:workspaceId/current-state-version",
    summary: "Show a workspace's current state version",
    includes,
    success: [200, one(stateVersionResource, "stateVersion")],
    failures: [400, 404],
    headers,
    handle: async ({ client, runs, params, caller }) =>
      withRun(await client(StateVersionService).getCurrentStateVersion(params, caller), { runs }),
  }),
];
