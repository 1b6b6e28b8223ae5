/** Ids in rows and events: a prefix and 16 letters and digits, never reused. */
export type OrganizationId = `org-${string}`;
export type ProjectId = `prj-${string}`;
export type WorkspaceId = `ws-${string}`;
export type TagId = `tag-${string}`;
export type AgentPoolId = `apool-${string}`;
export type ReservedTagKeyId = `rtk-${string}`;
export type SshKeyId = `sshkey-${string}`;
export type DataRetentionPolicyId = `drp-${string}`;
export type TagBindingId = `tb-${string}`;
/** Created by runners. */
export type RunId = `run-${string}`;
export type ConfigurationVersionId = `cv-${string}`;

/** The holder of a lock. */
export interface Holder {
  type: "user" | "team" | "run";
  id: string;
}
