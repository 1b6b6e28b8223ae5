import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  ProjectSchema,
  ProjectService,
} from "@statehouse/proto/statehouse/workspaces/v1/project";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  batchGetProjects,
  createProject,
  getProject,
  getProjectPlacement,
  listProjects,
} from "../app/project.ts";
import type { Shown } from "../app/shown.ts";
import type { ProjectView } from "../domain/project-view.ts";
import type { Context } from "./context.ts";
import { idsIn, projectId } from "./ids.ts";
import { pageOf } from "./page.ts";

export const projectService = (app: App): ServiceImpl<typeof ProjectService, Context> => ({
  createProject: async ({ description, ...wanted }, { caller }) => ({
    project: projectToProto(
      await createProject(app, caller, { ...wanted, description: description ?? null }),
    ),
  }),
  getProject: async ({ id }, { caller }) => ({
    project: projectToProto(await getProject(app, caller, projectId(id))),
  }),
  listProjects: async ({ sort, ...request }, { caller }) => {
    const { projects, total } = await listProjects(app, caller, {
      ...request,
      descending: sort === "-name",
      page: pageOf(request),
    });
    return { projects: projects.map(projectToProto), totalCount: total };
  },
  batchGetProjects: async ({ ids }, { caller }) => {
    const projects = await batchGetProjects(app, caller, idsIn(ids));
    return { projects: projects.map(projectToProto) };
  },
  getProjectPlacement: async (request) => ({
    organizationId: await getProjectPlacement(app, projectId(request.projectId)),
  }),
});

const projectToProto = ({
  description,
  createdAt,
  ...project
}: Shown<ProjectView>): MessageInitShape<typeof ProjectSchema> => ({
  ...project,
  ...(description === null ? {} : { description }),
  createdAt: timestampFromDate(createdAt),
});
