import { type Answer, type Api, document, linkage } from "./http.ts";
import { unusedName } from "./organization.ts";
import { expectStatus } from "./state.ts";

/**
 * Creates a workspace as the caller of `api`, by default with a generated name and in the default project. Returns the
 * `data` of its document.
 */
export async function newWorkspaceIn(
  api: Api,
  organization: string,
  attributes: Record<string, unknown> = {},
  projectId?: string,
): Promise<Answer["body"]> {
  const request = document(
    "workspaces",
    { name: unusedName("workspace"), ...attributes },
    projectId === undefined ? {} : { project: linkage("projects", projectId) },
  );
  const path = `/organizations/${organization}/workspaces`;
  return (await expectStatus(201, api.post(path, request))).body.data;
}
