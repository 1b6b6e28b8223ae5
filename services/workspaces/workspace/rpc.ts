import { pageOf } from "@statehouse/postgres";
import { idsIn } from "@statehouse/postgres/ids";
import type {
  WorkspaceName as NameMessage,
  WorkspaceRef as RefMessage,
  WorkspaceSettings as SettingsMessage,
  WorkspaceService,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import type { AgentPoolId } from "../ids-domain.ts";
import { projectId, workspaceId } from "../ids-rpc.ts";
import { removedSettings } from "../message-rpc.ts";
import { deleteWorkspace, safeDeleteWorkspace } from "../workspace-deletion/app.ts";
import {
  batchGetWorkspaces,
  createWorkspace,
  getWorkspace,
  getWorkspaceId,
  listWorkspaces,
  moveWorkspaces,
  updateWorkspace,
  type WorkspaceInput,
} from "./app.ts";
import {
  sortOf,
  type WorkspaceNameRef,
  type WorkspaceRef,
  workspaceNotFound,
  workspaceSortKeys,
} from "./domain.ts";
import { workspaceToProto } from "./message-rpc.ts";
import { removableSettings } from "./settings-domain.ts";

export const workspaceService = (app: App): ServiceImpl<typeof WorkspaceService> => ({
  createWorkspace: async ({ organizationName, settings, validateOnly }, { caller }) => ({
    workspace: workspaceToProto(
      await createWorkspace(app, caller, {
        organizationName,
        ...inputOf(settings),
        validateOnly,
      }),
    ),
  }),
  getWorkspace: async ({ workspace }, { caller }) => ({
    workspace: workspaceToProto(await getWorkspace(app, caller, refOf(workspace))),
  }),
  getWorkspaceId: async ({ workspace }, { caller }) => ({
    workspaceId: await getWorkspaceId(app, caller, named(workspace)),
  }),
  listWorkspaces: async (request, { caller }) => {
    const { workspaces, total } = await listWorkspaces(app, caller, {
      ...request,
      name: request.searchName,
      tags: request.searchTags,
      excludedTags: request.excludeTags,
      tagged: request.tagged.filter(({ key, value }) => key !== "" || value !== ""),
      locked: request.locked,
      sort: sortOf(workspaceSortKeys, request.sort),
      page: pageOf(request),
    });
    return { workspaces: workspaces.map(workspaceToProto), totalCount: total };
  },
  batchGetWorkspaces: async ({ ids }, { caller }) => {
    const workspaces = await batchGetWorkspaces(app, caller, idsIn("ws", ids));
    return { workspaces: workspaces.map(workspaceToProto) };
  },
  updateWorkspace: async ({ workspace, settings, unset, validateOnly }, { caller }) => {
    const input = { ref: refOf(workspace), ...inputOf(settings, unset), validateOnly };
    return { workspace: workspaceToProto(await updateWorkspace(app, caller, input)) };
  },
  moveWorkspaces: async (request, { caller }) => {
    await moveWorkspaces(app, caller, {
      projectId: projectId(request.projectId),
      workspaceIds: request.workspaceIds.map(workspaceId),
    });
    return {};
  },
  deleteWorkspace: async ({ workspace }, { caller }) => {
    await deleteWorkspace(app, caller, refOf(workspace));
    return {};
  },
  safeDeleteWorkspace: async ({ workspace }, { caller }) => {
    await safeDeleteWorkspace(app, caller, refOf(workspace));
    return {};
  },
});

function refOf(message: RefMessage | undefined): WorkspaceRef {
  const by = message?.by;
  if (by?.case === "id") return { id: workspaceId(by.value) };
  if (by?.case === "name") return named(by.value);
  throw workspaceNotFound();
}

function named(message: NameMessage | undefined): WorkspaceNameRef {
  if (!message) throw workspaceNotFound();
  return { organizationName: message.organizationName, workspaceName: message.name };
}

/** Converts the settings of a request. The settings named in `unset` become null. */
function inputOf(
  message: SettingsMessage | undefined,
  unset: readonly string[] = [],
): Omit<WorkspaceInput, "validateOnly"> {
  const {
    projectId: project,
    tagNames,
    tagBindings,
    agentPoolId,
    // Omitted, because the type name is not a setting: with it, a request without settings would seem to change a
    // setting.
    $typeName: _,
    ...settings
  } = message ?? none;
  return {
    settings: {
      ...settings,
      // Whether the pool exists is checked later. A string that does not have the form of an id is then treated like an
      // unknown id.
      agentPoolId: agentPoolId as AgentPoolId | undefined,
      ...removedSettings(removableSettings, unset),
    },
    // An empty project id selects the default project on creation, and does not move the workspace on update.
    projectId: project ? projectId(project) : undefined,
    tagNames: tagNames?.values,
    tagBindings: tagBindings?.tagBindings,
  };
}

const none: Partial<SettingsMessage> = {};
