/** Ids in the form in which the owning services generate them; the prefix identifies the noun. */
export type WorkspaceId = `ws-${string}`;
export type StateVersionId = `sv-${string}`;
export type WorkspaceResourceId = `wsr-${string}`;
export type StateVersionOutputId = `wsout-${string}`;
