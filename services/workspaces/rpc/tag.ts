import type {
  TagRef as RefMessage,
  TagService,
} from "@statehouse/proto/statehouse/workspaces/v1/tag";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { addWorkspaceTags, listWorkspaceTags, removeWorkspaceTags } from "../app/tag.ts";
import { noSuchTag } from "../domain/errors.ts";
import type { TagRef } from "../domain/tag.ts";
import type { Context } from "./context.ts";
import { tagId, workspaceId } from "./ids.ts";
import { pageOf } from "./page.ts";

export const tagService = (app: App): ServiceImpl<typeof TagService, Context> => ({
  listWorkspaceTags: async (request, { caller }) => {
    const id = workspaceId(request.workspaceId);
    const { tags, total } = await listWorkspaceTags(app, caller, id, pageOf(request));
    return { tags, totalCount: total };
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

function refOf({ by }: RefMessage): TagRef {
  if (by.case === "id") return { id: tagId(by.value) };
  if (by.case === "name") return { name: by.value };
  throw noSuchTag();
}
