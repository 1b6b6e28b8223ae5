/** Ids as the rows and events carry them: a prefix and 16 letters and digits, never reused. */
export type OrganizationId = `org-${string}`;
export type ProjectId = `prj-${string}`;
export type WorkspaceId = `ws-${string}`;
export type TagId = `tag-${string}`;
export type AgentPoolId = `apool-${string}`;
export type ReservedTagKeyId = `rtk-${string}`;
export type SshKeyId = `sshkey-${string}`;
export type DataRetentionPolicyId = `drp-${string}`;
export type TagBindingId = `tb-${string}`;
/** Made by runners. */
export type RunId = `run-${string}`;
export type ConfigurationVersionId = `cv-${string}`;

/** Who holds a lock. */
export interface Holder {
  type: "user" | "team" | "run";
  id: string;
}
