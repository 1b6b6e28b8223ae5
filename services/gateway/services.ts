import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { OrganizationMembershipService } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { TeamAccessService } from "@statehouse/proto/statehouse/access/v1/team_access";
import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { WorkspaceResourceService } from "@statehouse/proto/statehouse/state/v1/workspace_resource";
import { AdminService } from "@statehouse/proto/statehouse/workspaces/v1/admin";
import { AgentPoolService } from "@statehouse/proto/statehouse/workspaces/v1/agent_pool";
import { ConfigurationVersionService } from "@statehouse/proto/statehouse/workspaces/v1/configuration_version";
import { DataRetentionPolicyService } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { ProjectService } from "@statehouse/proto/statehouse/workspaces/v1/project";
import { RemoteStateConsumerService } from "@statehouse/proto/statehouse/workspaces/v1/remote_state_consumer";
import { ReservedTagKeyService } from "@statehouse/proto/statehouse/workspaces/v1/reserved_tag_key";
import { RunService } from "@statehouse/proto/statehouse/workspaces/v1/run";
import { SshKeyService } from "@statehouse/proto/statehouse/workspaces/v1/ssh_key";
import { TagService } from "@statehouse/proto/statehouse/workspaces/v1/tag";
import { TagBindingService } from "@statehouse/proto/statehouse/workspaces/v1/tag_binding";
import { WorkspaceService } from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { WorkspaceReadmeService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_readme";
import { type Channel, createClient, type ServiceIdentity } from "@statehouse/rpc";
import type { ObjectUpload } from "./object-upload.ts";

/** The roads to the three services. */
export interface Channels {
  access: Channel;
  workspaces: Channel;
  state: Channel;
}

/** A client of each noun, by the service that owns it. Only `authentication` is asked by the gateway itself. */
export const createServices = (
  { access, workspaces, state }: Channels,
  identity: ServiceIdentity,
  objects: ObjectUpload,
) => ({
  access: {
    authentication: createClient(AuthenticationService, access, identity),
    users: createClient(UserService, access),
    teams: createClient(TeamService, access),
    teamAccess: createClient(TeamAccessService, access),
    memberships: createClient(OrganizationMembershipService, access),
    tokens: createClient(TokenService, access),
  },
  workspaces: {
    admin: createClient(AdminService, workspaces),
    agentPools: createClient(AgentPoolService, workspaces),
    dataRetentionPolicies: createClient(DataRetentionPolicyService, workspaces),
    organizations: createClient(OrganizationService, workspaces),
    projects: createClient(ProjectService, workspaces),
    workspaces: createClient(WorkspaceService, workspaces),
    locks: createClient(WorkspaceLockService, workspaces),
    reservedTagKeys: createClient(ReservedTagKeyService, workspaces),
    sshKeys: createClient(SshKeyService, workspaces),
    tags: createClient(TagService, workspaces),
    tagBindings: createClient(TagBindingService, workspaces),
    remoteStateConsumers: createClient(RemoteStateConsumerService, workspaces),
    runs: createClient(RunService, workspaces),
    configurationVersions: createClient(ConfigurationVersionService, workspaces),
    workspaceReadmes: createClient(WorkspaceReadmeService, workspaces),
  },
  state: {
    stateVersions: createClient(StateVersionService, state),
    backingData: createClient(BackingDataService, state),
    outputs: createClient(StateVersionOutputService, state),
    resources: createClient(WorkspaceResourceService, state),
    objects,
  },
});

export type Services = ReturnType<typeof createServices>;
