import { pageOf } from "@statehouse/postgres";
import type {
  WorkspaceRef as RefMessage,
  WorkspaceSettings as SettingsMessage,
  WorkspaceService,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  batchGetWorkspaces,
  createWorkspace,
  getWorkspace,
  listWorkspaces,
  updateWorkspace,
  type WorkspaceInput,
} from "../app/workspace.ts";
import { deleteWorkspace, safeDeleteWorkspace } from "../app/workspace-deletion.ts";
import { sortUnknown, workspaceNotFound } from "../domain/errors.ts";
import type { AgentPoolId } from "../domain/ids.ts";
import {
  type WorkspaceRef,
  type WorkspaceSort,
  workspaceSortKeys,
  workspaceSortOf,
} from "../domain/workspace.ts";
import type { Context } from "./context.ts";
import { idsIn, projectId, workspaceId } from "./ids.ts";
import { workspaceMessages } from "./workspace-message.ts";

export const workspaceService = (app: App): ServiceImpl<typeof WorkspaceService, Context> => {
  const workspaceToProto = workspaceMessages(app.settings.engineReleases);
  return {
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
    listWorkspaces: async (request, { caller }) => {
      const { workspaces, total } = await listWorkspaces(app, caller, {
        organizationName: request.organizationName,
        name: request.searchName,
        wildcardName: request.wildcardName,
        tags: request.searchTags,
        excludedTags: request.excludeTags,
        tagged: request.tagged.filter(({ key, value }) => key !== "" || value !== ""),
        currentRunStatuses: request.currentRunStatuses,
        projectId: request.projectId,
        sort: sortOf(request.sort),
        page: pageOf(request),
      });
      return { workspaces: workspaces.map(workspaceToProto), totalCount: total };
    },
    batchGetWorkspaces: async ({ ids }, { caller }) => {
      const workspaces = await batchGetWorkspaces(app, caller, idsIn(ids));
      return { workspaces: workspaces.map(workspaceToProto) };
    },
    updateWorkspace: async ({ workspace, settings, unset, validateOnly }, { caller }) => {
      const wanted = { ref: refOf(workspace), ...inputOf(settings, unset), validateOnly };
      return { workspace: workspaceToProto(await updateWorkspace(app, caller, wanted)) };
    },
    deleteWorkspace: async ({ workspace }, { caller }) => {
      await deleteWorkspace(app, caller, refOf(workspace));
      return {};
    },
    safeDeleteWorkspace: async ({ workspace }, { caller }) => {
      await safeDeleteWorkspace(app, caller, refOf(workspace));
      return {};
    },
  };
};

function sortOf(text: string): WorkspaceSort {
  const sort = workspaceSortOf(text);
  if (!sort) throw sortUnknown(workspaceSortKeys);
  return sort;
}

function refOf(message: RefMessage | undefined): WorkspaceRef {
  const by = message?.by;
  if (by?.case === "id") return { id: workspaceId(by.value) };
  if (by?.case === "name") {
    return { organizationName: by.value.organizationName, workspaceName: by.value.name };
  }
  throw workspaceNotFound();
}

function inputOf(
  message: SettingsMessage | undefined,
  unset: readonly string[] = [],
): Omit<WorkspaceInput, "validateOnly"> {
  const nullable = (field: string, value: string | undefined) =>
    unset.includes(field) ? null : value;
  return {
    settings: {
      name: message?.name,
      allowDestroyPlan: message?.allowDestroyPlan,
      assessmentsEnabled: message?.assessmentsEnabled,
      autoApply: message?.autoApply,
      autoApplyRunTrigger: message?.autoApplyRunTrigger,
      description: message?.description,
      fileTriggersEnabled: message?.fileTriggersEnabled,
      globalRemoteState: message?.globalRemoteState,
      projectRemoteState: message?.projectRemoteState,
      queueAllRuns: message?.queueAllRuns,
      sourceName: message?.sourceName,
      sourceUrl: message?.sourceUrl,
      speculativeEnabled: message?.speculativeEnabled,
      engineVersion: message?.engineVersion,
      triggerPatterns: message?.triggerPatterns?.values,
      triggerPrefixes: message?.triggerPrefixes?.values,
      workingDirectory: message?.workingDirectory,
      structuredRunOutputEnabled: message?.structuredRunOutputEnabled,
      execution: {
        executionMode: message?.executionMode,
        operations: message?.operations,
        // Whether there is such a pool is asked later: what is no id is nobody's.
        agentPoolId: message?.agentPoolId as AgentPoolId | undefined,
        overwritesExecutionMode: message?.overwritesExecutionMode,
        overwritesAgentPool: message?.overwritesAgentPool,
      },
      autoDestroy: {
        autoDestroyAt: nullable("autoDestroyAt", message?.autoDestroyAt),
        autoDestroyActivityDuration: nullable(
          "autoDestroyActivityDuration",
          message?.autoDestroyActivityDuration,
        ),
      },
      vcsRepo: unset.includes("vcsRepo") ? null : message?.vcsRepo,
    },
    // Blank means no move, and the default project on creation.
    projectId: message?.projectId ? projectId(message.projectId) : undefined,
    tagNames: message?.tagNames?.values,
    tagBindings: message?.tagBindings?.tagBindings,
  };
}
