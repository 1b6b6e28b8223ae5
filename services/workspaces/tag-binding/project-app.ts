import { authorize, type Caller } from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import type { App } from "../app.ts";
import { allowedRows } from "../caller-app.ts";
import type { ProjectId } from "../ids-domain.ts";
import { getProject } from "../project/app.ts";
import { projectUpdated } from "../project/store.ts";
import { touch } from "../revision-domain.ts";
import type { TagBindingChange } from "./app.ts";
import {
  changesTagBindings,
  checkTagBindingCount,
  checkTagBindings,
  mergeTagBindings,
  type ProjectTagBinding,
  type TagBinding,
} from "./domain.ts";

/** Returns a project's tag bindings, ordered by key. The project's workspaces inherit them. */
export async function listProjectTagBindings(
  app: App,
  caller: Caller,
  projectId: ProjectId,
): Promise<TagBinding[]> {
  await getProject(app, caller, projectId);
  return app.reads.tagBindings.ofProject(projectId);
}

/** Returns the tag bindings of those projects among `projectIds` that the caller may read. Runs one SQL statement. */
export const batchListProjectTagBindings = async (
  app: App,
  caller: Caller,
  projectIds: readonly string[],
): Promise<ProjectTagBinding[]> =>
  allowedRows(caller, "project:read", await app.reads.tagBindings.ofProjects(projectIds));

/**
 * Adds or changes the bindings in the request and keeps all others, unless the request replaces all bindings. Returns
 * the requested bindings in the order of the request.
 */
export const updateProjectTagBindings = (
  app: App,
  caller: Caller,
  projectId: ProjectId,
  { bindings, replacesAll }: TagBindingChange,
): Promise<TagBinding[]> =>
  app.transaction(async (tx) => {
    const project = await tx.projects.getForUpdate(projectId);
    const { organizationId } = project;
    authorize(caller, "project:update", { organizationId, projectId });
    const current = await tx.tagBindings.ofProject(projectId);
    const problems = new Problems();
    checkTagBindings(bindings, problems);
    const after = mergeTagBindings(replacesAll ? [] : current, bindings);
    checkTagBindingCount(after, problems);
    problems.throwIfAny();
    if (changesTagBindings(current, after)) tx.noteChange(project, "tagBindings");
    const owner = { organizationId, projectId };
    const now = await tx.tagBindings.replace(owner, current, after, { now: app.now() });
    touch(project, app.now());
    await tx.record(projectUpdated(project));
    return bindings.flatMap(({ key }) => now.get(key) ?? []);
  });
