/** Ids in the form that rows and events contain: a prefix, then 16 letters and digits. An id is never reused. */
export type OrganizationId = `org-${string}`;

export type ProjectId = `prj-${string}`;

export type WorkspaceId = `ws-${string}`;

export type AgentPoolId = `apool-${string}`;

export type SshKeyId = `sshkey-${string}`;

/** Runners create these ids. */
export type RunId = `run-${string}`;

/** The organization and project of an object of a workspace, which authorization needs. */
export interface Placed {
  organizationId: OrganizationId;
  projectId: ProjectId;
}

/** The holder of a lock. */
export interface Holder {
  type: "user" | "team" | "run";
  id: string;
}
