import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { idsIn } from "@statehouse/postgres/ids";
import { pageOf } from "@statehouse/postgres/paging";
import type {
  StateVersionSchema,
  StateVersionService,
} from "@statehouse/proto/statehouse/state/v1/state_version";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { stateVersionId, workspaceId } from "../ids-rpc.ts";
import type { StateVersionDocument } from "../state-version-document/app.ts";
import {
  batchGetStateVersions,
  compareStateVersions,
  getCurrentStateVersion,
  getStateVersion,
  listStateVersions,
} from "./app.ts";
import { createStateVersion } from "./create-app.ts";
import { rollbackStateVersion } from "./rollback-app.ts";

export const stateVersionService = (app: App): ServiceImpl<typeof StateVersionService> => ({
  createStateVersion: async ({ runId, ...request }, { caller }) => {
    const created = await createStateVersion(app, caller, {
      ...request,
      runId,
      workspaceId: workspaceId(request.workspaceId),
    });
    return {
      stateVersion: stateVersionToProto(created.document),
      internalUploadPath: created.uploadPath,
      internalJsonUploadPath: created.jsonUploadPath,
    };
  },
  rollbackStateVersion: async (request, { caller }) => ({
    stateVersion: stateVersionToProto(
      await rollbackStateVersion(app, caller, {
        workspaceId: workspaceId(request.workspaceId),
        sourceId: stateVersionId(request.rollbackStateVersionId),
      }),
    ),
  }),
  getStateVersion: async ({ id }, { caller }) => ({
    stateVersion: stateVersionToProto(await getStateVersion(app, caller, stateVersionId(id))),
  }),
  getCurrentStateVersion: async ({ workspaceId: id }, { caller }) => ({
    stateVersion: stateVersionToProto(await getCurrentStateVersion(app, caller, workspaceId(id))),
  }),
  listStateVersions: async ({ workspaceId: id, status, ...page }, { caller }) => {
    const { documents, total } = await listStateVersions(app, caller, {
      workspaceId: workspaceId(id),
      status: status || undefined,
      page: pageOf(page),
    });
    return { stateVersions: documents.map(stateVersionToProto), totalCount: total };
  },
  compareStateVersions: async (request, { caller }) => {
    const { resources, counts, outputs } = await compareStateVersions(app, caller, {
      id: stateVersionId(request.id),
      sinceId: stateVersionId(request.sinceId),
    });
    return {
      resources: [...resources],
      resourcesAdded: counts.added,
      resourcesChanged: counts.changed,
      resourcesRemoved: counts.removed,
      outputs: [...outputs],
    };
  },
  batchGetStateVersions: async ({ ids }, { caller }) => {
    const documents = await batchGetStateVersions(app, caller, idsIn("sv", ids));
    return { stateVersions: documents.map(stateVersionToProto) };
  },
});

/** Converts a document to its protobuf message. */
export const stateVersionToProto = ({ version, ...document }: StateVersionDocument) =>
  ({
    ...version,
    createdAt: timestampFromDate(version.createdAt),
    size: version.size ?? undefined,
    formatVersion: version.formatVersion ?? undefined,
    engineVersion: version.engineVersion ?? undefined,
    runId: version.runId ?? undefined,
    rollbackStateVersionId: version.rollbackVersionId ?? undefined,
    previousStateVersionId: version.previousVersionId ?? undefined,
    nextStateVersionId: version.nextVersionId ?? undefined,
    ...document,
    uploadUrl: document.uploadUrl ?? "",
    jsonUploadUrl: document.jsonUploadUrl ?? "",
    downloadUrl: document.downloadUrl ?? "",
    jsonDownloadUrl: document.jsonDownloadUrl ?? "",
    billableResourceCount: document.showsBillableResources
      ? (version.billableResourceCount ?? undefined)
      : undefined,
  }) satisfies MessageInitShape<typeof StateVersionSchema>;
