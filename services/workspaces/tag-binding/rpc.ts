import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  TagBindingSchema,
  TagBindingService,
} from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { projectId, workspaceId } from "../ids-rpc.ts";
import { nullIsAbsent } from "../message-rpc.ts";
import {
  batchListWorkspaceEffectiveTagBindings,
  listWorkspaceEffectiveTagBindings,
  listWorkspaceTagBindings,
  updateWorkspaceTagBindings,
} from "./app.ts";
import type { EffectiveTagBinding, ProjectTagBinding, TagBinding } from "./domain.ts";
import {
  batchListProjectTagBindings,
  listProjectTagBindings,
  updateProjectTagBindings,
} from "./project-app.ts";

export const tagBindingService = (app: App): ServiceImpl<typeof TagBindingService> => ({
  listProjectTagBindings: async ({ projectId: id }, { caller }) => {
    const bindings = await listProjectTagBindings(app, caller, projectId(id));
    return { tagBindings: bindings.map(tagBindingToProto) };
  },
  batchListProjectTagBindings: async ({ projectIds }, { caller }) => {
    const bindings = await batchListProjectTagBindings(app, caller, projectIds);
    return { tagBindings: bindings.map(tagBindingToProto) };
  },
  updateProjectTagBindings: async ({ projectId: id, tagBindings, replacesAll }, { caller }) => {
    const change = { bindings: tagBindings, replacesAll };
    const bindings = await updateProjectTagBindings(app, caller, projectId(id), change);
    return { tagBindings: bindings.map(tagBindingToProto) };
  },
  listWorkspaceTagBindings: async ({ workspaceId: id }, { caller }) => {
    const bindings = await listWorkspaceTagBindings(app, caller, workspaceId(id));
    return { tagBindings: bindings.map(tagBindingToProto) };
  },
  updateWorkspaceTagBindings: async ({ workspaceId: id, tagBindings, replacesAll }, { caller }) => {
    const change = { bindings: tagBindings, replacesAll };
    const bindings = await updateWorkspaceTagBindings(app, caller, workspaceId(id), change);
    return { tagBindings: bindings.map(tagBindingToProto) };
  },
  listWorkspaceEffectiveTagBindings: async ({ workspaceId: id }, { caller }) => {
    const bindings = await listWorkspaceEffectiveTagBindings(app, caller, workspaceId(id));
    return { tagBindings: bindings.map(effectiveToProto) };
  },
  batchListWorkspaceEffectiveTagBindings: async ({ workspaceIds }, { caller }) => {
    const bindings = await batchListWorkspaceEffectiveTagBindings(app, caller, workspaceIds);
    return { tagBindings: bindings.map(effectiveToProto) };
  },
});

const tagBindingToProto = (
  binding: TagBinding | ProjectTagBinding,
): MessageInitShape<typeof TagBindingSchema> => ({
  ...binding,
  createdAt: timestampFromDate(binding.createdAt),
});

/** Omits the project of the workspace: `projectId` is the owner of a binding. */
const effectiveToProto = (
  binding: EffectiveTagBinding,
): MessageInitShape<typeof TagBindingSchema> =>
  nullIsAbsent({ ...binding, createdAt: timestampFromDate(binding.createdAt), projectId: "" });
