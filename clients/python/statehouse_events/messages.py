"""The messages of all events."""

# Generated from proto/ by npm run catalog:renew.

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from .message import Message, int64

__all__ = [
    "AccessAuditHeadSealed",
    "AgentPoolCreated",
    "AgentPoolDeleted",
    "AgentPoolUpdated",
    "DataRetentionPolicyDeleted",
    "DataRetentionPolicySet",
    "InvitationCreated",
    "OrganizationCreated",
    "OrganizationDeleted",
    "OrganizationMembershipActivated",
    "OrganizationMembershipDeleted",
    "OrganizationMembershipInvited",
    "OrganizationUpdated",
    "OutputDifference",
    "ProjectCreated",
    "ProjectDeleted",
    "ProjectUpdated",
    "ReservedTagKeyCreated",
    "ReservedTagKeyDeleted",
    "ReservedTagKeyUpdated",
    "RunEnded",
    "RunTokenCreated",
    "RunTokenDeleted",
    "RunTokenRenewed",
    "SshKeyCreated",
    "SshKeyDeleted",
    "SshKeyUpdated",
    "StateAuditHeadSealed",
    "StateVersionCreated",
    "StateVersionDiscarded",
    "StateVersionFinalized",
    "StateVersionPermanentlyDeleted",
    "StateVersionProcessed",
    "StateVersionRestored",
    "StateVersionSoftDeleted",
    "StateVersionsCollected",
    "TagDeleted",
    "TeamCreated",
    "TeamDeleted",
    "TeamMemberAdded",
    "TeamMemberRemoved",
    "TeamProjectCreated",
    "TeamProjectDeleted",
    "TeamProjectUpdated",
    "TeamUpdated",
    "TeamWorkspaceCreated",
    "TeamWorkspaceDeleted",
    "TeamWorkspaceUpdated",
    "TokenCreated",
    "TokenDeleted",
    "TokenTtlPolicyUpdated",
    "UserCreated",
    "UserDeleted",
    "UserUpdated",
    "WorkspaceAutoDestroyDue",
    "WorkspaceCreated",
    "WorkspaceDeleted",
    "WorkspaceLocked",
    "WorkspaceStateChanged",
    "WorkspaceUnlocked",
    "WorkspaceUpdated",
    "WorkspacesAuditHeadSealed",
]


@dataclass(frozen=True, kw_only=True)
class UserCreated(Message):
    """A user was created."""

    TYPE: ClassVar[str] = "statehouse.access.user.created.v1"
    user_id: str = ""
    username: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TokenCreated(Message):
    """A token was created."""

    TYPE: ClassVar[str] = "statehouse.access.token.created.v1"
    token_id: str = ""
    # user, team or organization
    owner_type: str = ""
    owner_id: str = ""
    revision: int = int64()
    # Empty for the token of a user.
    organization_id: str = ""


@dataclass(frozen=True, kw_only=True)
class TokenDeleted(Message):
    """A token was deleted."""

    TYPE: ClassVar[str] = "statehouse.access.token.deleted.v1"
    token_id: str = ""
    # user, team or organization
    owner_type: str = ""
    owner_id: str = ""
    revision: int = int64()
    # Empty for the token of a user.
    organization_id: str = ""


@dataclass(frozen=True, kw_only=True)
class TeamCreated(Message):
    """A team was created."""

    TYPE: ClassVar[str] = "statehouse.access.team.created.v1"
    team_id: str = ""
    organization_id: str = ""
    name: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TeamMemberAdded(Message):
    """A user was added to a team."""

    TYPE: ClassVar[str] = "statehouse.access.team-member.added.v1"
    team_id: str = ""
    user_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TeamMemberRemoved(Message):
    """A user was removed from a team."""

    TYPE: ClassVar[str] = "statehouse.access.team-member.removed.v1"
    team_id: str = ""
    user_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TeamProjectCreated(Message):
    """A team received access to a project."""

    TYPE: ClassVar[str] = "statehouse.access.team-project.created.v1"
    team_project_id: str = ""
    team_id: str = ""
    project_id: str = ""
    organization_id: str = ""
    access: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class RunTokenCreated(Message):
    """A run token was created."""

    TYPE: ClassVar[str] = "statehouse.access.run-token.created.v1"
    run_token_id: str = ""
    run_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    # The service that requested the token.
    runner: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class RunTokenRenewed(Message):
    """The lifetime of a run token was restarted."""

    TYPE: ClassVar[str] = "statehouse.access.run-token.renewed.v1"
    run_token_id: str = ""
    run_id: str = ""
    revision: int = int64()
    organization_id: str = ""


@dataclass(frozen=True, kw_only=True)
class RunTokenDeleted(Message):
    """A run token was deleted."""

    TYPE: ClassVar[str] = "statehouse.access.run-token.deleted.v1"
    run_token_id: str = ""
    run_id: str = ""
    revision: int = int64()
    organization_id: str = ""


@dataclass(frozen=True, kw_only=True)
class UserUpdated(Message):
    """The name, the e-mail address, the suspension or the administrator flag of a user changed."""

    TYPE: ClassVar[str] = "statehouse.access.user.updated.v1"
    user_id: str = ""
    username: str = ""
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class UserDeleted(Message):
    """An administrator deleted a user, with its memberships and tokens."""

    TYPE: ClassVar[str] = "statehouse.access.user.deleted.v1"
    user_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TeamUpdated(Message):
    """A team changed."""

    TYPE: ClassVar[str] = "statehouse.access.team.updated.v1"
    team_id: str = ""
    organization_id: str = ""
    name: str = ""
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TeamDeleted(Message):
    """A team was deleted, together with its members, grants and tokens."""

    TYPE: ClassVar[str] = "statehouse.access.team.deleted.v1"
    team_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TeamProjectUpdated(Message):
    """A team's access to a project changed."""

    TYPE: ClassVar[str] = "statehouse.access.team-project.updated.v1"
    team_project_id: str = ""
    team_id: str = ""
    project_id: str = ""
    organization_id: str = ""
    access: str = ""
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TeamProjectDeleted(Message):
    """A team's access to a project was deleted."""

    TYPE: ClassVar[str] = "statehouse.access.team-project.deleted.v1"
    team_project_id: str = ""
    team_id: str = ""
    project_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TeamWorkspaceCreated(Message):
    """A team received access to a workspace."""

    TYPE: ClassVar[str] = "statehouse.access.team-workspace.created.v1"
    team_workspace_id: str = ""
    team_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    access: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TeamWorkspaceUpdated(Message):
    """A team's access to a workspace changed."""

    TYPE: ClassVar[str] = "statehouse.access.team-workspace.updated.v1"
    team_workspace_id: str = ""
    team_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    access: str = ""
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TeamWorkspaceDeleted(Message):
    """A team's access to a workspace was deleted."""

    TYPE: ClassVar[str] = "statehouse.access.team-workspace.deleted.v1"
    team_workspace_id: str = ""
    team_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class OrganizationMembershipInvited(Message):
    """A user was invited. InvitationCreated contains the e-mail address, and the secret with which the user can accept."""

    TYPE: ClassVar[str] = "statehouse.access.organization-membership.invited.v1"
    organization_membership_id: str = ""
    organization_id: str = ""
    user_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class OrganizationMembershipActivated(Message):
    """A user created an organization or accepted an invitation, or a service added the user to a team without an invitation."""

    TYPE: ClassVar[str] = "statehouse.access.organization-membership.activated.v1"
    organization_membership_id: str = ""
    organization_id: str = ""
    user_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class OrganizationMembershipDeleted(Message):
    """An organization membership was deleted."""

    TYPE: ClassVar[str] = "statehouse.access.organization-membership.deleted.v1"
    organization_membership_id: str = ""
    organization_id: str = ""
    user_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TokenTtlPolicyUpdated(Message):
    """The maximum lifetime of an organization's tokens of one type changed."""

    TYPE: ClassVar[str] = "statehouse.access.token-ttl-policy.updated.v1"
    organization_id: str = ""
    # user, team, organization or audit-trails
    token_type: str = ""
    max_ttl_ms: int = int64()
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AccessAuditHeadSealed(Message):
    """Audit records of this service were sealed. The event contains the head of the chain of one organization, signed by the service. Keep the heads outside Statehouse: a chain that was recomputed later does not match them (docs/audit.md)."""

    TYPE: ClassVar[str] = "statehouse.access.audit-head.sealed.v1"
    # The organization's id, or _ for records that concern the whole installation.
    organization: str = ""
    # Empty for records that concern the whole installation.
    organization_id: str = ""
    service: str = ""
    # The number of the batch: 1, 2, 3, …
    revision: int = int64()
    # The number of records of the batch.
    records: int = 0
    # ISO 8601 in UTC with milliseconds, exactly as it was signed.
    sealed_at: str = ""
    # Hexadecimal SHA-256 over this batch and all earlier ones.
    hash: str = ""
    # The key in ASSERTION_PUBLIC_KEYS that verifies the signature.
    key_id: str = ""
    # Base64 of the Ed25519 signature.
    signature: str = ""


@dataclass(frozen=True, kw_only=True)
class OrganizationCreated(Message):
    """An organization was created."""

    TYPE: ClassVar[str] = "statehouse.workspaces.organization.created.v1"
    organization_id: str = ""
    name: str = ""
    creator_user_id: str = ""
    revision: int = int64()
    # Whether the organization's plan bills by usage.
    usage_based_billing: bool = False


@dataclass(frozen=True, kw_only=True)
class OrganizationUpdated(Message):
    """An organization changed."""

    TYPE: ClassVar[str] = "statehouse.workspaces.organization.updated.v1"
    organization_id: str = ""
    name: str = ""
    revision: int = int64()
    # Whether the organization's plan bills by usage.
    usage_based_billing: bool = False
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OrganizationDeleted(Message):
    """An organization was deleted: it is unreadable, and its data is being deleted."""

    TYPE: ClassVar[str] = "statehouse.workspaces.organization.deleted.v1"
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class AgentPoolCreated(Message):
    """An agent pool was created."""

    TYPE: ClassVar[str] = "statehouse.workspaces.agent-pool.created.v1"
    agent_pool_id: str = ""
    organization_id: str = ""
    name: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class AgentPoolUpdated(Message):
    """An agent pool changed."""

    TYPE: ClassVar[str] = "statehouse.workspaces.agent-pool.updated.v1"
    agent_pool_id: str = ""
    organization_id: str = ""
    name: str = ""
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AgentPoolDeleted(Message):
    """An agent pool was deleted."""

    TYPE: ClassVar[str] = "statehouse.workspaces.agent-pool.deleted.v1"
    agent_pool_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class ProjectCreated(Message):
    """A project was created."""

    TYPE: ClassVar[str] = "statehouse.workspaces.project.created.v1"
    project_id: str = ""
    organization_id: str = ""
    name: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class ProjectUpdated(Message):
    """The settings or tags of a project changed."""

    TYPE: ClassVar[str] = "statehouse.workspaces.project.updated.v1"
    project_id: str = ""
    organization_id: str = ""
    name: str = ""
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ProjectDeleted(Message):
    """A project was deleted."""

    TYPE: ClassVar[str] = "statehouse.workspaces.project.deleted.v1"
    project_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class TagDeleted(Message):
    """A tag was deleted from the organization and from all its workspaces. No separate events are published for the workspaces."""

    TYPE: ClassVar[str] = "statehouse.workspaces.tag.deleted.v1"
    tag_id: str = ""
    organization_id: str = ""
    name: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class ReservedTagKeyCreated(Message):
    """A reserved tag key was created."""

    TYPE: ClassVar[str] = "statehouse.workspaces.reserved-tag-key.created.v1"
    reserved_tag_key_id: str = ""
    organization_id: str = ""
    key: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class ReservedTagKeyUpdated(Message):
    """A reserved tag key changed."""

    TYPE: ClassVar[str] = "statehouse.workspaces.reserved-tag-key.updated.v1"
    reserved_tag_key_id: str = ""
    organization_id: str = ""
    key: str = ""
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReservedTagKeyDeleted(Message):
    """A reserved tag key was deleted."""

    TYPE: ClassVar[str] = "statehouse.workspaces.reserved-tag-key.deleted.v1"
    reserved_tag_key_id: str = ""
    organization_id: str = ""
    key: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class SshKeyCreated(Message):
    """An SSH key was created."""

    TYPE: ClassVar[str] = "statehouse.workspaces.ssh-key.created.v1"
    ssh_key_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class SshKeyUpdated(Message):
    """An SSH key changed."""

    TYPE: ClassVar[str] = "statehouse.workspaces.ssh-key.updated.v1"
    ssh_key_id: str = ""
    organization_id: str = ""
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SshKeyDeleted(Message):
    """An SSH key was deleted."""

    TYPE: ClassVar[str] = "statehouse.workspaces.ssh-key.deleted.v1"
    ssh_key_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class DataRetentionPolicySet(Message):
    """The data retention policy of a workspace, an organization or the installation was set."""

    TYPE: ClassVar[str] = "statehouse.workspaces.data-retention-policy.set.v1"
    data_retention_policy_id: str = ""
    # Set for the policies of organizations and of workspaces; absent for the policy of the installation.
    organization_id: str = ""
    # Absent for the policies of organizations and of the installation.
    workspace_id: str = ""
    # delete-older or dont-delete
    kind: str = ""
    delete_older_than_n_days: int | None = None
    revision: int = int64()
    # Applies to state versions instead of `delete_older_than_n_days`.
    state_versions_delete_after_n_days: int | None = None


@dataclass(frozen=True, kw_only=True)
class DataRetentionPolicyDeleted(Message):
    """A data retention policy was deleted."""

    TYPE: ClassVar[str] = "statehouse.workspaces.data-retention-policy.deleted.v1"
    data_retention_policy_id: str = ""
    # Set for the policies of organizations and of workspaces; absent for the policy of the installation.
    organization_id: str = ""
    # Absent for the policies of organizations and of the installation.
    workspace_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class WorkspaceCreated(Message):
    """A workspace was created."""

    TYPE: ClassVar[str] = "statehouse.workspaces.workspace.created.v1"
    workspace_id: str = ""
    organization_id: str = ""
    project_id: str = ""
    name: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class WorkspaceUpdated(Message):
    """The settings, the tags or the project of a workspace changed."""

    TYPE: ClassVar[str] = "statehouse.workspaces.workspace.updated.v1"
    workspace_id: str = ""
    organization_id: str = ""
    project_id: str = ""
    name: str = ""
    # The version of the placement (organization and project), which grows when the workspace moves.
    placement_version: int = int64()
    revision: int = int64()
    # The attributes and relationships that changed, by their names in API documents.
    changed_attributes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WorkspaceLocked(Message):
    """A workspace was locked."""

    TYPE: ClassVar[str] = "statehouse.workspaces.workspace.locked.v1"
    workspace_id: str = ""
    organization_id: str = ""
    holder_type: str = ""
    holder_id: str = ""
    reason: str = ""
    epoch: int = int64()
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class WorkspaceUnlocked(Message):
    """A workspace was unlocked."""

    TYPE: ClassVar[str] = "statehouse.workspaces.workspace.unlocked.v1"
    workspace_id: str = ""
    organization_id: str = ""
    epoch: int = int64()
    forced: bool = False
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class WorkspaceDeleted(Message):
    """A workspace was deleted."""

    TYPE: ClassVar[str] = "statehouse.workspaces.workspace.deleted.v1"
    workspace_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class RunEnded(Message):
    """A run was reported as ended. Its tokens are no longer valid."""

    TYPE: ClassVar[str] = "statehouse.workspaces.run.ended.v1"
    run_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    status: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class WorkspaceAutoDestroyDue(Message):
    """A workspace's scheduled destroy run is due, and a runner may start it. Published once."""

    TYPE: ClassVar[str] = "statehouse.workspaces.workspace.auto-destroy-due.v1"
    workspace_id: str = ""
    organization_id: str = ""
    project_id: str = ""
    due_at: datetime | None = None
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class WorkspacesAuditHeadSealed(Message):
    """Audit records of this service were sealed. The event contains the head of the chain of one organization, signed by the service. Keep the heads outside Statehouse: a chain that was recomputed later does not match them (docs/audit.md)."""

    TYPE: ClassVar[str] = "statehouse.workspaces.audit-head.sealed.v1"
    # The organization's id, or _ for records that concern the whole installation.
    organization: str = ""
    # Empty for records that concern the whole installation.
    organization_id: str = ""
    service: str = ""
    # The number of the batch: 1, 2, 3, …
    revision: int = int64()
    # The number of records of the batch.
    records: int = 0
    # ISO 8601 in UTC with milliseconds, exactly as it was signed.
    sealed_at: str = ""
    # Hexadecimal SHA-256 over this batch and all earlier ones.
    hash: str = ""
    # The key in ASSERTION_PUBLIC_KEYS that verifies the signature.
    key_id: str = ""
    # Base64 of the Ed25519 signature.
    signature: str = ""


@dataclass(frozen=True, kw_only=True)
class StateVersionCreated(Message):
    """A state version was created. StateVersionFinalized follows when its state is stored."""

    TYPE: ClassVar[str] = "statehouse.state.state-version.created.v1"
    state_version_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    serial: int = int64()
    revision: int = int64()
    # If a rollback created this version, the version of which it is a copy; otherwise empty.
    rollback_state_version_id: str = ""


@dataclass(frozen=True, kw_only=True)
class StateVersionFinalized(Message):
    """The state of a version was stored."""

    TYPE: ClassVar[str] = "statehouse.state.state-version.finalized.v1"
    state_version_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    serial: int = int64()
    size: int = int64()
    intermediate: bool = False
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class StateVersionDiscarded(Message):
    """A pending version was discarded: its state was not uploaded within the pending window, a newer version was created, or the workspace was force-unlocked."""

    TYPE: ClassVar[str] = "statehouse.state.state-version.discarded.v1"
    state_version_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class StateVersionSoftDeleted(Message):
    """The backing data was soft-deleted. It is unreadable until it is restored, and is deleted permanently after SOFT_DELETED_DAYS."""

    TYPE: ClassVar[str] = "statehouse.state.state-version.soft-deleted.v1"
    state_version_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class StateVersionRestored(Message):
    """Soft-deleted backing data was restored."""

    TYPE: ClassVar[str] = "statehouse.state.state-version.restored.v1"
    state_version_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class StateVersionPermanentlyDeleted(Message):
    """The backing data was deleted permanently."""

    TYPE: ClassVar[str] = "statehouse.state.state-version.permanently-deleted.v1"
    state_version_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class StateVersionsCollected(Message):
    """The retention policy or the retention of the free tier deleted the backing data of these versions. One event is published for each batch."""

    TYPE: ClassVar[str] = "statehouse.state.state-versions.collected.v1"
    state_version_ids: tuple[str, ...] = ()
    workspace_id: str = ""
    organization_id: str = ""
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class OutputDifference(Message):
    """An output that differs between two versions of a state. Never contains the output's value."""

    name: str = ""
    sensitive: bool = False


@dataclass(frozen=True, kw_only=True)
class StateVersionProcessed(Message):
    """The state of a version was extracted. The event describes the differences from the previous version that has a state and is not a snapshot: the names of outputs (never their values), and the numbers of added, changed and removed instances of managed resources."""

    TYPE: ClassVar[str] = "statehouse.state.state-version.processed.v1"
    state_version_id: str = ""
    workspace_id: str = ""
    organization_id: str = ""
    resource_count: int = 0
    revision: int = int64()
    serial: int = int64()
    lineage: str = ""
    # The version with which this one is compared; empty if there is no previous version.
    compared_state_version_id: str = ""
    # Why the versions cannot be compared: unreadable, previous-unreadable, previous-unprocessed, previous-not-digested (the contents of the previous version were deleted) or key-changed. Empty if they are compared.
    incomparable: str = ""
    outputs_added: tuple[OutputDifference, ...] = ()
    outputs_changed: tuple[OutputDifference, ...] = ()
    outputs_removed: tuple[OutputDifference, ...] = ()
    # True if the lists of outputs are incomplete, because the event would otherwise be too large.
    outputs_truncated: bool = False
    resources_added: int = 0
    resources_changed: int = 0
    resources_removed: int = 0


@dataclass(frozen=True, kw_only=True)
class WorkspaceStateChanged(Message):
    """The state summary that the workspaces service stores. Published whenever current_state_version_id, resource_count or latest_change_at changes."""

    TYPE: ClassVar[str] = "statehouse.state.workspace-state.changed.v1"
    workspace_id: str = ""
    organization_id: str = ""
    current_state_version_id: str = ""
    resource_count: int = 0
    latest_change_at: datetime | None = None
    revision: int = int64()


@dataclass(frozen=True, kw_only=True)
class StateAuditHeadSealed(Message):
    """Audit records of this service were sealed. The event contains the head of the chain of one organization, signed by the service. Keep the heads outside Statehouse: a chain that was recomputed later does not match them (docs/audit.md)."""

    TYPE: ClassVar[str] = "statehouse.state.audit-head.sealed.v1"
    # The organization's id, or _ for records that concern the whole installation.
    organization: str = ""
    # Empty for records that concern the whole installation.
    organization_id: str = ""
    service: str = ""
    # The number of the batch: 1, 2, 3, …
    revision: int = int64()
    # The number of records of the batch.
    records: int = 0
    # ISO 8601 in UTC with milliseconds, exactly as it was signed.
    sealed_at: str = ""
    # Hexadecimal SHA-256 over this batch and all earlier ones.
    hash: str = ""
    # The key in ASSERTION_PUBLIC_KEYS that verifies the signature.
    key_id: str = ""
    # Base64 of the Ed25519 signature.
    signature: str = ""


@dataclass(frozen=True, kw_only=True)
class InvitationCreated(Message):
    """A user was invited. Statehouse itself sends no e-mail; the mail sender sends the id and the secret to the e-mail address."""

    TYPE: ClassVar[str] = "statehouse-mail.access.invitation.created.v1"
    organization_membership_id: str = ""
    organization_id: str = ""
    user_id: str = ""
    email: str = ""
    revision: int = int64()
    # A user who presents the secret has shown that they can read the mail of this address. Send the secret to this address only.
    secret: str = ""
