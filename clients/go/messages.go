// Code generated from proto/ by npm run catalog:renew. DO NOT EDIT.

package events

import "time"

// UserCreated: A user was created.
type UserCreated struct {
	UserID   string `json:"userId,omitempty"`
	Username string `json:"username,omitempty"`
	Revision uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (UserCreated) EventType() string {
	return "statehouse.access.user.created.v1"
}

// TokenCreated: A token was created.
type TokenCreated struct {
	TokenID string `json:"tokenId,omitempty"`
	// user, team or organization
	OwnerType string `json:"ownerType,omitempty"`
	OwnerID   string `json:"ownerId,omitempty"`
	Revision  uint64 `json:"revision,omitempty,string"`
	// Empty for the token of a user.
	OrganizationID string `json:"organizationId,omitempty"`
}

// EventType returns the type of the event.
func (TokenCreated) EventType() string {
	return "statehouse.access.token.created.v1"
}

// TokenDeleted: A token was deleted.
type TokenDeleted struct {
	TokenID string `json:"tokenId,omitempty"`
	// user, team or organization
	OwnerType string `json:"ownerType,omitempty"`
	OwnerID   string `json:"ownerId,omitempty"`
	Revision  uint64 `json:"revision,omitempty,string"`
	// Empty for the token of a user.
	OrganizationID string `json:"organizationId,omitempty"`
}

// EventType returns the type of the event.
func (TokenDeleted) EventType() string {
	return "statehouse.access.token.deleted.v1"
}

// TeamCreated: A team was created.
type TeamCreated struct {
	TeamID         string `json:"teamId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Name           string `json:"name,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (TeamCreated) EventType() string {
	return "statehouse.access.team.created.v1"
}

// TeamMemberAdded: A user was added to a team.
type TeamMemberAdded struct {
	TeamID         string `json:"teamId,omitempty"`
	UserID         string `json:"userId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (TeamMemberAdded) EventType() string {
	return "statehouse.access.team-member.added.v1"
}

// TeamMemberRemoved: A user was removed from a team.
type TeamMemberRemoved struct {
	TeamID         string `json:"teamId,omitempty"`
	UserID         string `json:"userId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (TeamMemberRemoved) EventType() string {
	return "statehouse.access.team-member.removed.v1"
}

// TeamProjectCreated: A team received access to a project.
type TeamProjectCreated struct {
	TeamProjectID  string `json:"teamProjectId,omitempty"`
	TeamID         string `json:"teamId,omitempty"`
	ProjectID      string `json:"projectId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Access         string `json:"access,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (TeamProjectCreated) EventType() string {
	return "statehouse.access.team-project.created.v1"
}

// RunTokenCreated: A run token was created.
type RunTokenCreated struct {
	RunTokenID     string `json:"runTokenId,omitempty"`
	RunID          string `json:"runId,omitempty"`
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	// The service that requested the token.
	Runner   string `json:"runner,omitempty"`
	Revision uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (RunTokenCreated) EventType() string {
	return "statehouse.access.run-token.created.v1"
}

// RunTokenRenewed: The lifetime of a run token was restarted.
type RunTokenRenewed struct {
	RunTokenID     string `json:"runTokenId,omitempty"`
	RunID          string `json:"runId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	OrganizationID string `json:"organizationId,omitempty"`
}

// EventType returns the type of the event.
func (RunTokenRenewed) EventType() string {
	return "statehouse.access.run-token.renewed.v1"
}

// RunTokenDeleted: A run token was deleted.
type RunTokenDeleted struct {
	RunTokenID     string `json:"runTokenId,omitempty"`
	RunID          string `json:"runId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	OrganizationID string `json:"organizationId,omitempty"`
}

// EventType returns the type of the event.
func (RunTokenDeleted) EventType() string {
	return "statehouse.access.run-token.deleted.v1"
}

// UserUpdated: The name, the e-mail address, the suspension or the administrator flag of a user changed.
type UserUpdated struct {
	UserID   string `json:"userId,omitempty"`
	Username string `json:"username,omitempty"`
	Revision uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (UserUpdated) EventType() string {
	return "statehouse.access.user.updated.v1"
}

// UserDeleted: An administrator deleted a user, with its memberships and tokens.
type UserDeleted struct {
	UserID   string `json:"userId,omitempty"`
	Revision uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (UserDeleted) EventType() string {
	return "statehouse.access.user.deleted.v1"
}

// TeamUpdated: A team changed.
type TeamUpdated struct {
	TeamID         string `json:"teamId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Name           string `json:"name,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (TeamUpdated) EventType() string {
	return "statehouse.access.team.updated.v1"
}

// TeamDeleted: A team was deleted, together with its members, grants and tokens.
type TeamDeleted struct {
	TeamID         string `json:"teamId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (TeamDeleted) EventType() string {
	return "statehouse.access.team.deleted.v1"
}

// TeamProjectUpdated: A team's access to a project changed.
type TeamProjectUpdated struct {
	TeamProjectID  string `json:"teamProjectId,omitempty"`
	TeamID         string `json:"teamId,omitempty"`
	ProjectID      string `json:"projectId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Access         string `json:"access,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (TeamProjectUpdated) EventType() string {
	return "statehouse.access.team-project.updated.v1"
}

// TeamProjectDeleted: A team's access to a project was deleted.
type TeamProjectDeleted struct {
	TeamProjectID  string `json:"teamProjectId,omitempty"`
	TeamID         string `json:"teamId,omitempty"`
	ProjectID      string `json:"projectId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (TeamProjectDeleted) EventType() string {
	return "statehouse.access.team-project.deleted.v1"
}

// TeamWorkspaceCreated: A team received access to a workspace.
type TeamWorkspaceCreated struct {
	TeamWorkspaceID string `json:"teamWorkspaceId,omitempty"`
	TeamID          string `json:"teamId,omitempty"`
	WorkspaceID     string `json:"workspaceId,omitempty"`
	OrganizationID  string `json:"organizationId,omitempty"`
	Access          string `json:"access,omitempty"`
	Revision        uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (TeamWorkspaceCreated) EventType() string {
	return "statehouse.access.team-workspace.created.v1"
}

// TeamWorkspaceUpdated: A team's access to a workspace changed.
type TeamWorkspaceUpdated struct {
	TeamWorkspaceID string `json:"teamWorkspaceId,omitempty"`
	TeamID          string `json:"teamId,omitempty"`
	WorkspaceID     string `json:"workspaceId,omitempty"`
	OrganizationID  string `json:"organizationId,omitempty"`
	Access          string `json:"access,omitempty"`
	Revision        uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (TeamWorkspaceUpdated) EventType() string {
	return "statehouse.access.team-workspace.updated.v1"
}

// TeamWorkspaceDeleted: A team's access to a workspace was deleted.
type TeamWorkspaceDeleted struct {
	TeamWorkspaceID string `json:"teamWorkspaceId,omitempty"`
	TeamID          string `json:"teamId,omitempty"`
	WorkspaceID     string `json:"workspaceId,omitempty"`
	OrganizationID  string `json:"organizationId,omitempty"`
	Revision        uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (TeamWorkspaceDeleted) EventType() string {
	return "statehouse.access.team-workspace.deleted.v1"
}

// OrganizationMembershipInvited: A user was invited. InvitationCreated contains the e-mail address, and the secret with which the user can accept.
type OrganizationMembershipInvited struct {
	OrganizationMembershipID string `json:"organizationMembershipId,omitempty"`
	OrganizationID           string `json:"organizationId,omitempty"`
	UserID                   string `json:"userId,omitempty"`
	Revision                 uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (OrganizationMembershipInvited) EventType() string {
	return "statehouse.access.organization-membership.invited.v1"
}

// OrganizationMembershipActivated: A user created an organization or accepted an invitation, or a service added the user to a team without an invitation.
type OrganizationMembershipActivated struct {
	OrganizationMembershipID string `json:"organizationMembershipId,omitempty"`
	OrganizationID           string `json:"organizationId,omitempty"`
	UserID                   string `json:"userId,omitempty"`
	Revision                 uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (OrganizationMembershipActivated) EventType() string {
	return "statehouse.access.organization-membership.activated.v1"
}

// OrganizationMembershipDeleted: An organization membership was deleted.
type OrganizationMembershipDeleted struct {
	OrganizationMembershipID string `json:"organizationMembershipId,omitempty"`
	OrganizationID           string `json:"organizationId,omitempty"`
	UserID                   string `json:"userId,omitempty"`
	Revision                 uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (OrganizationMembershipDeleted) EventType() string {
	return "statehouse.access.organization-membership.deleted.v1"
}

// TokenTtlPolicyUpdated: The maximum lifetime of an organization's tokens of one type changed.
type TokenTtlPolicyUpdated struct {
	OrganizationID string `json:"organizationId,omitempty"`
	// user, team, organization or audit-trails
	TokenType string `json:"tokenType,omitempty"`
	MaxTTLMs  int64  `json:"maxTtlMs,omitempty,string"`
	Revision  uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (TokenTtlPolicyUpdated) EventType() string {
	return "statehouse.access.token-ttl-policy.updated.v1"
}

// AccessAuditHeadSealed: Audit records of this service were sealed. The event contains the head of the chain of one organization, signed by the service. Keep the heads outside Statehouse: a chain that was recomputed later does not match them (docs/audit.md).
type AccessAuditHeadSealed struct {
	// The organization's id, or _ for records that concern the whole installation.
	Organization string `json:"organization,omitempty"`
	// Empty for records that concern the whole installation.
	OrganizationID string `json:"organizationId,omitempty"`
	Service        string `json:"service,omitempty"`
	// The number of the batch: 1, 2, 3, …
	Revision uint64 `json:"revision,omitempty,string"`
	// The number of records of the batch.
	Records uint32 `json:"records,omitempty"`
	// ISO 8601 in UTC with milliseconds, exactly as it was signed.
	SealedAt string `json:"sealedAt,omitempty"`
	// Hexadecimal SHA-256 over this batch and all earlier ones.
	Hash string `json:"hash,omitempty"`
	// The key in ASSERTION_PUBLIC_KEYS that verifies the signature.
	KeyID string `json:"keyId,omitempty"`
	// Base64 of the Ed25519 signature.
	Signature string `json:"signature,omitempty"`
}

// EventType returns the type of the event.
func (AccessAuditHeadSealed) EventType() string {
	return "statehouse.access.audit-head.sealed.v1"
}

// OrganizationCreated: An organization was created.
type OrganizationCreated struct {
	OrganizationID string `json:"organizationId,omitempty"`
	Name           string `json:"name,omitempty"`
	CreatorUserID  string `json:"creatorUserId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	// Whether the organization's plan bills by usage.
	UsageBasedBilling bool `json:"usageBasedBilling,omitempty"`
}

// EventType returns the type of the event.
func (OrganizationCreated) EventType() string {
	return "statehouse.workspaces.organization.created.v1"
}

// OrganizationUpdated: An organization changed.
type OrganizationUpdated struct {
	OrganizationID string `json:"organizationId,omitempty"`
	Name           string `json:"name,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	// Whether the organization's plan bills by usage.
	UsageBasedBilling bool `json:"usageBasedBilling,omitempty"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (OrganizationUpdated) EventType() string {
	return "statehouse.workspaces.organization.updated.v1"
}

// OrganizationDeleted: An organization was deleted: it is unreadable, and its data is being deleted.
type OrganizationDeleted struct {
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (OrganizationDeleted) EventType() string {
	return "statehouse.workspaces.organization.deleted.v1"
}

// AgentPoolCreated: An agent pool was created.
type AgentPoolCreated struct {
	AgentPoolID    string `json:"agentPoolId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Name           string `json:"name,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (AgentPoolCreated) EventType() string {
	return "statehouse.workspaces.agent-pool.created.v1"
}

// AgentPoolUpdated: An agent pool changed.
type AgentPoolUpdated struct {
	AgentPoolID    string `json:"agentPoolId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Name           string `json:"name,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (AgentPoolUpdated) EventType() string {
	return "statehouse.workspaces.agent-pool.updated.v1"
}

// AgentPoolDeleted: An agent pool was deleted.
type AgentPoolDeleted struct {
	AgentPoolID    string `json:"agentPoolId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (AgentPoolDeleted) EventType() string {
	return "statehouse.workspaces.agent-pool.deleted.v1"
}

// ProjectCreated: A project was created.
type ProjectCreated struct {
	ProjectID      string `json:"projectId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Name           string `json:"name,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (ProjectCreated) EventType() string {
	return "statehouse.workspaces.project.created.v1"
}

// ProjectUpdated: The settings or tags of a project changed.
type ProjectUpdated struct {
	ProjectID      string `json:"projectId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Name           string `json:"name,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (ProjectUpdated) EventType() string {
	return "statehouse.workspaces.project.updated.v1"
}

// ProjectDeleted: A project was deleted.
type ProjectDeleted struct {
	ProjectID      string `json:"projectId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (ProjectDeleted) EventType() string {
	return "statehouse.workspaces.project.deleted.v1"
}

// TagDeleted: A tag was deleted from the organization and from all its workspaces. No separate events are published for the workspaces.
type TagDeleted struct {
	TagID          string `json:"tagId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Name           string `json:"name,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (TagDeleted) EventType() string {
	return "statehouse.workspaces.tag.deleted.v1"
}

// ReservedTagKeyCreated: A reserved tag key was created.
type ReservedTagKeyCreated struct {
	ReservedTagKeyID string `json:"reservedTagKeyId,omitempty"`
	OrganizationID   string `json:"organizationId,omitempty"`
	Key              string `json:"key,omitempty"`
	Revision         uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (ReservedTagKeyCreated) EventType() string {
	return "statehouse.workspaces.reserved-tag-key.created.v1"
}

// ReservedTagKeyUpdated: A reserved tag key changed.
type ReservedTagKeyUpdated struct {
	ReservedTagKeyID string `json:"reservedTagKeyId,omitempty"`
	OrganizationID   string `json:"organizationId,omitempty"`
	Key              string `json:"key,omitempty"`
	Revision         uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (ReservedTagKeyUpdated) EventType() string {
	return "statehouse.workspaces.reserved-tag-key.updated.v1"
}

// ReservedTagKeyDeleted: A reserved tag key was deleted.
type ReservedTagKeyDeleted struct {
	ReservedTagKeyID string `json:"reservedTagKeyId,omitempty"`
	OrganizationID   string `json:"organizationId,omitempty"`
	Key              string `json:"key,omitempty"`
	Revision         uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (ReservedTagKeyDeleted) EventType() string {
	return "statehouse.workspaces.reserved-tag-key.deleted.v1"
}

// SshKeyCreated: An SSH key was created.
type SshKeyCreated struct {
	SSHKeyID       string `json:"sshKeyId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (SshKeyCreated) EventType() string {
	return "statehouse.workspaces.ssh-key.created.v1"
}

// SshKeyUpdated: An SSH key changed.
type SshKeyUpdated struct {
	SSHKeyID       string `json:"sshKeyId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (SshKeyUpdated) EventType() string {
	return "statehouse.workspaces.ssh-key.updated.v1"
}

// SshKeyDeleted: An SSH key was deleted.
type SshKeyDeleted struct {
	SSHKeyID       string `json:"sshKeyId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (SshKeyDeleted) EventType() string {
	return "statehouse.workspaces.ssh-key.deleted.v1"
}

// DataRetentionPolicySet: The data retention policy of a workspace, an organization or the installation was set.
type DataRetentionPolicySet struct {
	DataRetentionPolicyID string `json:"dataRetentionPolicyId,omitempty"`
	// Set for the policies of organizations and of workspaces; absent for the policy of the installation.
	OrganizationID string `json:"organizationId,omitempty"`
	// Absent for the policies of organizations and of the installation.
	WorkspaceID string `json:"workspaceId,omitempty"`
	// delete-older or dont-delete
	Kind                 string  `json:"kind,omitempty"`
	DeleteOlderThanNDays *uint32 `json:"deleteOlderThanNDays,omitempty"`
	Revision             uint64  `json:"revision,omitempty,string"`
	// Applies to state versions instead of `delete_older_than_n_days`.
	StateVersionsDeleteAfterNDays *uint32 `json:"stateVersionsDeleteAfterNDays,omitempty"`
}

// EventType returns the type of the event.
func (DataRetentionPolicySet) EventType() string {
	return "statehouse.workspaces.data-retention-policy.set.v1"
}

// DataRetentionPolicyDeleted: A data retention policy was deleted.
type DataRetentionPolicyDeleted struct {
	DataRetentionPolicyID string `json:"dataRetentionPolicyId,omitempty"`
	// Set for the policies of organizations and of workspaces; absent for the policy of the installation.
	OrganizationID string `json:"organizationId,omitempty"`
	// Absent for the policies of organizations and of the installation.
	WorkspaceID string `json:"workspaceId,omitempty"`
	Revision    uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (DataRetentionPolicyDeleted) EventType() string {
	return "statehouse.workspaces.data-retention-policy.deleted.v1"
}

// WorkspaceCreated: A workspace was created.
type WorkspaceCreated struct {
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	ProjectID      string `json:"projectId,omitempty"`
	Name           string `json:"name,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (WorkspaceCreated) EventType() string {
	return "statehouse.workspaces.workspace.created.v1"
}

// WorkspaceUpdated: The settings, the tags or the project of a workspace changed.
type WorkspaceUpdated struct {
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	ProjectID      string `json:"projectId,omitempty"`
	Name           string `json:"name,omitempty"`
	// The version of the placement (organization and project), which grows when the workspace moves.
	PlacementVersion uint64 `json:"placementVersion,omitempty,string"`
	Revision         uint64 `json:"revision,omitempty,string"`
	// The attributes and relationships that changed, by their names in API documents.
	ChangedAttributes []string `json:"changedAttributes,omitempty"`
}

// EventType returns the type of the event.
func (WorkspaceUpdated) EventType() string {
	return "statehouse.workspaces.workspace.updated.v1"
}

// WorkspaceLocked: A workspace was locked.
type WorkspaceLocked struct {
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	HolderType     string `json:"holderType,omitempty"`
	HolderID       string `json:"holderId,omitempty"`
	Reason         string `json:"reason,omitempty"`
	Epoch          uint64 `json:"epoch,omitempty,string"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (WorkspaceLocked) EventType() string {
	return "statehouse.workspaces.workspace.locked.v1"
}

// WorkspaceUnlocked: A workspace was unlocked.
type WorkspaceUnlocked struct {
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Epoch          uint64 `json:"epoch,omitempty,string"`
	Forced         bool   `json:"forced,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (WorkspaceUnlocked) EventType() string {
	return "statehouse.workspaces.workspace.unlocked.v1"
}

// WorkspaceDeleted: A workspace was deleted.
type WorkspaceDeleted struct {
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (WorkspaceDeleted) EventType() string {
	return "statehouse.workspaces.workspace.deleted.v1"
}

// RunEnded: A run was reported as ended. Its tokens are no longer valid.
type RunEnded struct {
	RunID          string `json:"runId,omitempty"`
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Status         string `json:"status,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (RunEnded) EventType() string {
	return "statehouse.workspaces.run.ended.v1"
}

// WorkspaceAutoDestroyDue: A workspace's scheduled destroy run is due, and a runner may start it. Published once.
type WorkspaceAutoDestroyDue struct {
	WorkspaceID    string    `json:"workspaceId,omitempty"`
	OrganizationID string    `json:"organizationId,omitempty"`
	ProjectID      string    `json:"projectId,omitempty"`
	DueAt          time.Time `json:"dueAt,omitzero"`
	Revision       uint64    `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (WorkspaceAutoDestroyDue) EventType() string {
	return "statehouse.workspaces.workspace.auto-destroy-due.v1"
}

// WorkspacesAuditHeadSealed: Audit records of this service were sealed. The event contains the head of the chain of one organization, signed by the service. Keep the heads outside Statehouse: a chain that was recomputed later does not match them (docs/audit.md).
type WorkspacesAuditHeadSealed struct {
	// The organization's id, or _ for records that concern the whole installation.
	Organization string `json:"organization,omitempty"`
	// Empty for records that concern the whole installation.
	OrganizationID string `json:"organizationId,omitempty"`
	Service        string `json:"service,omitempty"`
	// The number of the batch: 1, 2, 3, …
	Revision uint64 `json:"revision,omitempty,string"`
	// The number of records of the batch.
	Records uint32 `json:"records,omitempty"`
	// ISO 8601 in UTC with milliseconds, exactly as it was signed.
	SealedAt string `json:"sealedAt,omitempty"`
	// Hexadecimal SHA-256 over this batch and all earlier ones.
	Hash string `json:"hash,omitempty"`
	// The key in ASSERTION_PUBLIC_KEYS that verifies the signature.
	KeyID string `json:"keyId,omitempty"`
	// Base64 of the Ed25519 signature.
	Signature string `json:"signature,omitempty"`
}

// EventType returns the type of the event.
func (WorkspacesAuditHeadSealed) EventType() string {
	return "statehouse.workspaces.audit-head.sealed.v1"
}

// StateVersionCreated: A state version was created. StateVersionFinalized follows when its state is stored.
type StateVersionCreated struct {
	StateVersionID string `json:"stateVersionId,omitempty"`
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Serial         uint64 `json:"serial,omitempty,string"`
	Revision       uint64 `json:"revision,omitempty,string"`
	// If a rollback created this version, the version of which it is a copy; otherwise empty.
	RollbackStateVersionID string `json:"rollbackStateVersionId,omitempty"`
}

// EventType returns the type of the event.
func (StateVersionCreated) EventType() string {
	return "statehouse.state.state-version.created.v1"
}

// StateVersionFinalized: The state of a version was stored.
type StateVersionFinalized struct {
	StateVersionID string `json:"stateVersionId,omitempty"`
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Serial         uint64 `json:"serial,omitempty,string"`
	Size           uint64 `json:"size,omitempty,string"`
	Intermediate   bool   `json:"intermediate,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (StateVersionFinalized) EventType() string {
	return "statehouse.state.state-version.finalized.v1"
}

// StateVersionDiscarded: A pending version was discarded: its state was not uploaded within the pending window, a newer version was created, or the workspace was force-unlocked.
type StateVersionDiscarded struct {
	StateVersionID string `json:"stateVersionId,omitempty"`
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (StateVersionDiscarded) EventType() string {
	return "statehouse.state.state-version.discarded.v1"
}

// StateVersionSoftDeleted: The backing data was soft-deleted. It is unreadable until it is restored, and is deleted permanently after SOFT_DELETED_DAYS.
type StateVersionSoftDeleted struct {
	StateVersionID string `json:"stateVersionId,omitempty"`
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (StateVersionSoftDeleted) EventType() string {
	return "statehouse.state.state-version.soft-deleted.v1"
}

// StateVersionRestored: Soft-deleted backing data was restored.
type StateVersionRestored struct {
	StateVersionID string `json:"stateVersionId,omitempty"`
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (StateVersionRestored) EventType() string {
	return "statehouse.state.state-version.restored.v1"
}

// StateVersionPermanentlyDeleted: The backing data was deleted permanently.
type StateVersionPermanentlyDeleted struct {
	StateVersionID string `json:"stateVersionId,omitempty"`
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (StateVersionPermanentlyDeleted) EventType() string {
	return "statehouse.state.state-version.permanently-deleted.v1"
}

// StateVersionsCollected: The retention policy or the retention of the free tier deleted the backing data of these versions. One event is published for each batch.
type StateVersionsCollected struct {
	StateVersionIDs []string `json:"stateVersionIds,omitempty"`
	WorkspaceID     string   `json:"workspaceId,omitempty"`
	OrganizationID  string   `json:"organizationId,omitempty"`
	Revision        uint64   `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (StateVersionsCollected) EventType() string {
	return "statehouse.state.state-versions.collected.v1"
}

// OutputDifference: An output that differs between two versions of a state. Never contains the output's value.
type OutputDifference struct {
	Name      string `json:"name,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

// StateVersionProcessed: The state of a version was extracted. The event describes the differences from the previous version that has a state and is not a snapshot: the names of outputs (never their values), and the numbers of added, changed and removed instances of managed resources.
type StateVersionProcessed struct {
	StateVersionID string `json:"stateVersionId,omitempty"`
	WorkspaceID    string `json:"workspaceId,omitempty"`
	OrganizationID string `json:"organizationId,omitempty"`
	ResourceCount  uint32 `json:"resourceCount,omitempty"`
	Revision       uint64 `json:"revision,omitempty,string"`
	Serial         uint64 `json:"serial,omitempty,string"`
	Lineage        string `json:"lineage,omitempty"`
	// The version with which this one is compared; empty if there is no previous version.
	ComparedStateVersionID string `json:"comparedStateVersionId,omitempty"`
	// Why the versions cannot be compared: unreadable, previous-unreadable, previous-unprocessed, previous-not-digested (the contents of the previous version were deleted) or key-changed. Empty if they are compared.
	Incomparable   string             `json:"incomparable,omitempty"`
	OutputsAdded   []OutputDifference `json:"outputsAdded,omitempty"`
	OutputsChanged []OutputDifference `json:"outputsChanged,omitempty"`
	OutputsRemoved []OutputDifference `json:"outputsRemoved,omitempty"`
	// True if the lists of outputs are incomplete, because the event would otherwise be too large.
	OutputsTruncated bool   `json:"outputsTruncated,omitempty"`
	ResourcesAdded   uint32 `json:"resourcesAdded,omitempty"`
	ResourcesChanged uint32 `json:"resourcesChanged,omitempty"`
	ResourcesRemoved uint32 `json:"resourcesRemoved,omitempty"`
}

// EventType returns the type of the event.
func (StateVersionProcessed) EventType() string {
	return "statehouse.state.state-version.processed.v1"
}

// WorkspaceStateChanged: The state summary that the workspaces service stores. Published whenever current_state_version_id, resource_count or latest_change_at changes.
type WorkspaceStateChanged struct {
	WorkspaceID           string    `json:"workspaceId,omitempty"`
	OrganizationID        string    `json:"organizationId,omitempty"`
	CurrentStateVersionID string    `json:"currentStateVersionId,omitempty"`
	ResourceCount         uint32    `json:"resourceCount,omitempty"`
	LatestChangeAt        time.Time `json:"latestChangeAt,omitzero"`
	Revision              uint64    `json:"revision,omitempty,string"`
}

// EventType returns the type of the event.
func (WorkspaceStateChanged) EventType() string {
	return "statehouse.state.workspace-state.changed.v1"
}

// StateAuditHeadSealed: Audit records of this service were sealed. The event contains the head of the chain of one organization, signed by the service. Keep the heads outside Statehouse: a chain that was recomputed later does not match them (docs/audit.md).
type StateAuditHeadSealed struct {
	// The organization's id, or _ for records that concern the whole installation.
	Organization string `json:"organization,omitempty"`
	// Empty for records that concern the whole installation.
	OrganizationID string `json:"organizationId,omitempty"`
	Service        string `json:"service,omitempty"`
	// The number of the batch: 1, 2, 3, …
	Revision uint64 `json:"revision,omitempty,string"`
	// The number of records of the batch.
	Records uint32 `json:"records,omitempty"`
	// ISO 8601 in UTC with milliseconds, exactly as it was signed.
	SealedAt string `json:"sealedAt,omitempty"`
	// Hexadecimal SHA-256 over this batch and all earlier ones.
	Hash string `json:"hash,omitempty"`
	// The key in ASSERTION_PUBLIC_KEYS that verifies the signature.
	KeyID string `json:"keyId,omitempty"`
	// Base64 of the Ed25519 signature.
	Signature string `json:"signature,omitempty"`
}

// EventType returns the type of the event.
func (StateAuditHeadSealed) EventType() string {
	return "statehouse.state.audit-head.sealed.v1"
}

// InvitationCreated: A user was invited. Statehouse itself sends no e-mail; the mail sender sends the id and the secret to the e-mail address.
type InvitationCreated struct {
	OrganizationMembershipID string `json:"organizationMembershipId,omitempty"`
	OrganizationID           string `json:"organizationId,omitempty"`
	UserID                   string `json:"userId,omitempty"`
	Email                    string `json:"email,omitempty"`
	Revision                 uint64 `json:"revision,omitempty,string"`
	// A user who presents the secret has shown that they can read the mail of this address. Send the secret to this address only.
	Secret string `json:"secret,omitempty"`
}

// EventType returns the type of the event.
func (InvitationCreated) EventType() string {
	return "statehouse-mail.access.invitation.created.v1"
}
