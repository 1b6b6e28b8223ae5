import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres/paging";
import type {
  WorkspaceResourceSchema,
  WorkspaceResourceService,
} from "@statehouse/proto/statehouse/state/v1/workspace_resource";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { workspaceId } from "../ids-rpc.ts";
import { listWorkspaceResources } from "./app.ts";
import { parseResourceSort, type WorkspaceResource } from "./domain.ts";

export const workspaceResourceService = (
  app: App,
): ServiceImpl<typeof WorkspaceResourceService> => ({
  listWorkspaceResources: async ({ workspaceId: id, query, sort, ...page }, { caller }) => {
    const { rows, total } = await listWorkspaceResources(app, caller, {
      workspaceId: workspaceId(id),
      search: query,
      sort: parseResourceSort(sort),
      page: pageOf(page),
    });
    return { resources: rows.map(resourceToProto), totalCount: total };
  },
});

const resourceToProto = ({
  nameIndex,
  createdAt,
  updatedAt,
  modifiedBy,
  ...resource
}: WorkspaceResource): MessageInitShape<typeof WorkspaceResourceSchema> => ({
  ...resource,
  nameIndex: nameIndex ?? undefined,
  createdAt: timestampFromDate(createdAt),
  updatedAt: timestampFromDate(updatedAt),
  modifiedByStateVersionId: modifiedBy,
});
