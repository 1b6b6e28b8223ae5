import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { pageOf } from "@statehouse/postgres";
import { idsIn } from "@statehouse/postgres/ids";
import type {
  ProjectSchema,
  ProjectService,
  ProjectSettings as SettingsMessage,
} from "@statehouse/proto/statehouse/workspaces/v1/project";
import type { ServiceImpl } from "@statehouse/rpc";
import type { WithAllowedActions } from "../allowed-actions-app.ts";
import type { App } from "../app.ts";
import { optionalAgentPoolId, projectId } from "../ids-rpc.ts";
import { nullIsAbsent, removedSettings } from "../message-rpc.ts";
import {
  batchGetProjects,
  createProject,
  deleteProject,
  getProject,
  getProjectPlacement,
  listExistingProjects,
  listProjects,
  updateProject,
} from "./app.ts";
import { type ProjectView, removableProjectSettings } from "./domain.ts";

export const projectService = (app: App): ServiceImpl<typeof ProjectService> => ({
  createProject: async ({ organizationName, name, description, ...request }, { caller }) => {
    const settings = { name, description, ...settingsOf(request.settings) };
    const { tagBindings, validateOnly } = request;
    const input = { organizationName, settings, tagBindings, validateOnly };
    return { project: projectToProto(await createProject(app, caller, input)) };
  },
  updateProject: async ({ id, name, description, ...request }, { caller }) => {
    const settings = { name, description, ...settingsOf(request.settings, request.unset) };
    const tagBindings = request.tagBindings?.tagBindings;
    const { validateOnly } = request;
    const input = { id: projectId(id), settings, tagBindings, validateOnly };
    return { project: projectToProto(await updateProject(app, caller, input)) };
  },
  deleteProject: async ({ id }, { caller }) => {
    await deleteProject(app, caller, projectId(id));
    return {};
  },
  getProject: async ({ id }, { caller }) => ({
    project: projectToProto(await getProject(app, caller, projectId(id))),
  }),
  listProjects: async ({ sort, allowedAction, ...request }, { caller }) => {
    const { projects, total } = await listProjects(app, caller, {
      ...request,
      action: listActions.find((action) => action === allowedAction) ?? "project:read",
      descending: sort === "-name",
      page: pageOf(request),
    });
    return { projects: projects.map(projectToProto), totalCount: total };
  },
  batchGetProjects: async ({ ids }, { caller }) => {
    const projects = await batchGetProjects(app, caller, idsIn("prj", ids));
    return { projects: projects.map(projectToProto) };
  },
  getProjectPlacement: async (request) => ({
    organizationId: await getProjectPlacement(app, projectId(request.projectId)),
  }),
  listExistingProjects: async ({ projectIds }) => ({
    projectIds: await listExistingProjects(app, idsIn("prj", projectIds)),
  }),
});

/**
 * Actions by which `listProjects` can filter: it returns the projects on which the caller may perform `allowedAction`.
 * Any other value means `project:read`.
 */
const listActions = ["project:read", "project:update", "project:create-workspace"] as const;

/** Converts the settings of a request. The settings named in `unset` become null. */
const settingsOf = (message: SettingsMessage | undefined, unset: readonly string[] = []) => ({
  ...message,
  defaultAgentPoolId: optionalAgentPoolId(message?.defaultAgentPoolId),
  ...removedSettings(removableProjectSettings, unset),
});

const projectToProto = (
  project: WithAllowedActions<ProjectView>,
): MessageInitShape<typeof ProjectSchema> =>
  nullIsAbsent({ ...project, createdAt: timestampFromDate(project.createdAt) });
