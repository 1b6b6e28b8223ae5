import { allowed, authorize, type Caller, refuseUserToken } from "@statehouse/authorization";
import { noSuchOrganization, noSuchProject } from "../domain/errors.ts";
import type { OrganizationId, ProjectId } from "../domain/ids.ts";
import { isOrganizationName } from "../domain/organization.ts";
import { Problems } from "../domain/problems.ts";
import { isProjectName, newProject } from "../domain/project.ts";
import type { ProjectView } from "../domain/project-view.ts";
import {
  checkTagBindingCount,
  checkTagBindings,
  mergeTagBindings,
  type TagBindingInput,
} from "../domain/tag-binding.ts";
import type { ProjectSearch } from "../store/project.ts";
import type { App } from "./app.ts";
import { grantsOf, readableBy } from "./caller.ts";
import { type Shown, showProject } from "./shown.ts";

export interface CreateProject {
  organizationName: string;
  name: string;
  description: string | null;
  tagBindings: readonly TagBindingInput[];
}

const bindingsPointer = "/data/relationships/tag-bindings/data";

/** Throws `notFound`, `forbidden`, or `invalid` with every problem. */
export const createProject = (
  app: App,
  caller: Caller,
  { organizationName, name, description, tagBindings }: CreateProject,
): Promise<Shown<ProjectView>> =>
  app.transaction(async (tx) => {
    const { id: organizationId } = await tx.organizations.getByName(organizationName);
    authorize(caller, "project:create", { organizationId }, "organization");
    const problems = new Problems();
    const nameTaken = isProjectName(name) && (await tx.projects.nameTaken(organizationId, name));
    const project = newProject(
      { id: app.newId("prj"), organizationId, name, description },
      { nameTaken, problems },
      app.now(),
    );
    const wanted = mergeTagBindings([], tagBindings);
    const pointerTo = (index: number, part: string) =>
      `${bindingsPointer}/${index}/attributes/${part}`;
    checkTagBindings(tagBindings, problems, pointerTo);
    checkTagBindingCount(wanted, problems, bindingsPointer);
    problems.throwIfAny();
    await tx.projects.add(project);
    await tx.tagBindings.replace({ organizationId, projectId: project.id }, [], wanted, app.now());
    await tx.record({ type: "projectCreated", project });
    return showProject(caller)(await tx.projects.view(project.id));
  });

/** Throws `notFound` when it does not exist or the caller may not read it. */
export async function getProject(
  app: App,
  caller: Caller,
  id: ProjectId,
): Promise<Shown<ProjectView>> {
  const project = await app.reads.projects.find(id);
  if (!project) throw noSuchProject();
  authorize(caller, "project:read", { organizationId: project.organizationId, projectId: id });
  return showProject(caller)(project);
}

/** Those of `ids` that the caller may read. */
export async function batchGetProjects(
  app: App,
  caller: Caller,
  ids: readonly string[],
): Promise<Shown<ProjectView>[]> {
  const grants = grantsOf(caller);
  const projects = await app.reads.projects.batch(ids);
  return projects
    .filter(({ id: projectId, organizationId }) =>
      allowed(grants, "project:read", { organizationId, projectId }),
    )
    .map(showProject(caller));
}

/** Those that the caller may read. Throws `notFound` when it does not belong to the organization. */
export async function listProjects(
  app: App,
  caller: Caller,
  search: ProjectSearch,
): Promise<{ projects: Shown<ProjectView>[]; total: number }> {
  if (!isOrganizationName(search.organizationName)) throw noSuchOrganization();
  const readable = readableBy(caller, "project:read");
  const found = await app.reads.projects.count(search, readable);
  if (!found) throw noSuchOrganization();
  refuseUserToken(grantsOf(caller), found.organizationId);
  const projects = await app.reads.projects.page(search, readable, found.organizationId);
  return { projects: projects.map(showProject(caller)), total: found.total };
}

/** For access: the organization of a project. Throws `notFound`. */
export async function getProjectPlacement(app: App, id: ProjectId): Promise<OrganizationId> {
  const organizationId = await app.reads.projects.organizationOf(id);
  if (!organizationId) throw noSuchProject();
  return organizationId;
}
