/** Ids as their owners generate them; the prefix distinguishes the nouns. */
export type WorkspaceId = `ws-${string}`;
export type StateVersionId = `sv-${string}`;
export type WorkspaceResourceId = `wsr-${string}`;
export type StateVersionOutputId = `wsout-${string}`;
