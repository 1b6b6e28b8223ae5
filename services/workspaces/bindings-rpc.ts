import { RunLockService } from "@statehouse/proto/statehouse/runs/v1/run_lock";
import { RunReportService } from "@statehouse/proto/statehouse/runs/v1/run_report";
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
import { implement, type ServiceBinding } from "@statehouse/rpc";
import { adminService } from "./admin/rpc.ts";
import { agentPoolService } from "./agent-pool/rpc.ts";
import type { App } from "./app.ts";
import { configurationVersionService } from "./configuration-version/rpc.ts";
import { dataRetentionPolicyService } from "./data-retention-policy/rpc.ts";
import { organizationService } from "./organization/rpc.ts";
import { projectService } from "./project/rpc.ts";
import { remoteStateConsumerService } from "./remote-state-consumer/rpc.ts";
import { reservedTagKeyService } from "./reserved-tag-key/rpc.ts";
import { runService } from "./run/rpc.ts";
import { runLockService } from "./run-lock/rpc.ts";
import { runReportService } from "./run-report/rpc.ts";
import { sshKeyService } from "./ssh-key/rpc.ts";
import { tagService } from "./tag/rpc.ts";
import { tagBindingService } from "./tag-binding/rpc.ts";
import { workspaceService } from "./workspace/rpc.ts";
import { workspaceLockService } from "./workspace-lock/rpc.ts";
import { workspaceReadmeService } from "./workspace-readme/rpc.ts";

/** The gRPC services that the workspaces service implements. */
export const bindings = (app: App): ServiceBinding[] => [
  implement(AdminService, adminService(app)),
  implement(AgentPoolService, agentPoolService(app)),
  implement(DataRetentionPolicyService, dataRetentionPolicyService(app)),
  implement(OrganizationService, organizationService(app)),
  implement(ProjectService, projectService(app)),
  implement(ReservedTagKeyService, reservedTagKeyService(app)),
  implement(SshKeyService, sshKeyService(app)),
  implement(TagService, tagService(app)),
  implement(TagBindingService, tagBindingService(app)),
  implement(WorkspaceService, workspaceService(app)),
  implement(WorkspaceLockService, workspaceLockService(app)),
  implement(RemoteStateConsumerService, remoteStateConsumerService(app)),
  implement(RunService, runService(app)),
  implement(RunLockService, runLockService(app)),
  implement(RunReportService, runReportService(app)),
  implement(ConfigurationVersionService, configurationVersionService(app)),
  implement(WorkspaceReadmeService, workspaceReadmeService(app)),
];
