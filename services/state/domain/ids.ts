/** Ids as their owners make them; the prefix keeps one noun's id from passing for another's. */
export type WorkspaceId = `ws-${string}`;
export type StateVersionId = `sv-${string}`;
export type WorkspaceResourceId = `wsr-${string}`;
export type StateVersionOutputId = `wsout-${string}`;

const form = (prefix: string) => new RegExp(`^${prefix}-[A-Za-z0-9]{1,64}$`);
const workspaceForm = form("ws");
const stateVersionForm = form("sv");
const outputForm = form("wsout");

export const isWorkspaceId = (text: string): text is WorkspaceId => workspaceForm.test(text);

export const isStateVersionId = (text: string): text is StateVersionId =>
  stateVersionForm.test(text);

export const isStateVersionOutputId = (text: string): text is StateVersionOutputId =>
  outputForm.test(text);
