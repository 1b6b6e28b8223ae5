/** What a list of workspaces can be sorted by; specification, "List workspaces query parameters". */
export const workspaceSortKeys = ["name", "latest-change-at", "current-run.created-at"] as const;

export interface WorkspaceSort {
  key: (typeof workspaceSortKeys)[number];
  descending: boolean;
}

/** Reads `name`, `-name` and their like; empty: by name. Undefined: there is no such order. */
export function workspaceSortOf(text: string): WorkspaceSort | undefined {
  const descending = text.startsWith("-");
  const name = descending ? text.slice(1) : text || "name";
  const key = workspaceSortKeys.find((known) => known === name);
  return key && { key, descending };
}
