import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import { isId } from "@statehouse/postgres/ids";
import type {
  TagRef as RefMessage,
  TagSchema,
  TagService,
} from "@statehouse/proto/statehouse/workspaces/v1/tag";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { idParser, workspaceId } from "../ids-rpc.ts";
import { addWorkspaceTags, listWorkspaceTags, removeWorkspaceTags } from "./app.ts";
import { type Tag, type TagRef, tagNotFound } from "./domain.ts";
import {
  addTagToWorkspaces,
  deleteOrganizationTags,
  listOrganizationTags,
} from "./organization-app.ts";

const tagId = idParser("tag", tagNotFound);

export const tagService = (app: App): ServiceImpl<typeof TagService> => ({
  listWorkspaceTags: async (request, { caller }) => {
    const id = workspaceId(request.workspaceId);
    const { rows, total } = await listWorkspaceTags(app, caller, id, pageOf(request));
    return { tags: rows.map(tagToProto), totalCount: total };
  },
  listOrganizationTags: async ({ organizationName, query, ...request }, { caller }) => {
    const { excludeWorkspaceId: excluded } = request;
    const { rows, total } = await listOrganizationTags(app, caller, {
      organizationName,
      query,
      excludeWorkspaceId: isId("ws", excluded) ? excluded : undefined,
      page: pageOf(request),
    });
    return { tags: rows.map(tagToProto), totalCount: total };
  },
  deleteOrganizationTags: async ({ organizationName, tagIds }, { caller }) => {
    await deleteOrganizationTags(app, caller, { organizationName, ids: tagIds.map(tagId) });
    return {};
  },
  addTagToWorkspaces: async (request, { caller }) => {
    await addTagToWorkspaces(app, caller, {
      tagId: tagId(request.tagId),
      workspaceIds: request.workspaceIds.map(workspaceId),
    });
    return {};
  },
  addWorkspaceTags: async ({ workspaceId: id, tags }, { caller }) => {
    await addWorkspaceTags(app, caller, workspaceId(id), tags.map(refOf));
    return {};
  },
  removeWorkspaceTags: async ({ workspaceId: id, tags }, { caller }) => {
    await removeWorkspaceTags(app, caller, workspaceId(id), tags.map(refOf));
    return {};
  },
});

const tagToProto = ({ createdAt, ...tag }: Tag): MessageInitShape<typeof TagSchema> => ({
  ...tag,
  createdAt: timestampFromDate(createdAt),
});

function refOf({ by }: RefMessage): TagRef {
  if (by.case === "id") return { id: tagId(by.value) };
  if (by.case === "name") return { name: by.value };
  throw tagNotFound();
}
