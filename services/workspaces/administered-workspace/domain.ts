import type { OrganizationId, RunId, WorkspaceId } from "../ids-domain.ts";

/** The values of a workspace that administrators of the installation see, in any organization. */
export interface AdministeredWorkspace {
  id: WorkspaceId;
  name: string;
  locked: boolean;
  vcsRepoIdentifier: string | null;
  organizationId: OrganizationId;
  currentRunId: RunId | null;
}

/** The keys by which administrators can sort workspaces. */
export const administeredWorkspaceSortKeys = ["name", "current-run.created-at"] as const;

export interface AdministeredWorkspaceSort {
  key: (typeof administeredWorkspaceSortKeys)[number];
  descending: boolean;
}

/**
 * Parses the order of a list; a leading `-` means descending, and an empty text means `name`. Returns undefined if the
 * order is unknown.
 */
export function administeredWorkspaceSortOf(text: string): AdministeredWorkspaceSort | undefined {
  const name = text.replace(/^-/, "") || "name";
  const key = administeredWorkspaceSortKeys.find((known) => known === name);
  return key && { key, descending: text.startsWith("-") };
}
