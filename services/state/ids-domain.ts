/** Ids in the form in which the services generate them; the prefix names the kind of thing. */
export type WorkspaceId = `ws-${string}`;
export type StateVersionId = `sv-${string}`;
export type WorkspaceResourceId = `wsr-${string}`;
export type StateVersionOutputId = `wsout-${string}`;
