import { accountRoutes } from "./account/routes.ts";
import { adminRoutes } from "./admin/routes.ts";
import { agentPoolRoutes } from "./agent-pool/routes.ts";
import { auditTrailRoutes } from "./audit-trail/routes.ts";
import { organizationTokenRoutes } from "./authentication-token/organization-routes.ts";
import { authenticationTokenRoutes } from "./authentication-token/routes.ts";
import { tokenSettingsPageRoutes } from "./authentication-token/settings-page-routes.ts";
import { teamTokenRoutes } from "./authentication-token/team-routes.ts";
import { avatarRoutes } from "./avatar/routes.ts";
import { backingDataRoutes } from "./backing-data/routes.ts";
import { changelogRoutes } from "./changelog/routes.ts";
import { dataRetentionPolicyRoutes } from "./data-retention-policy/routes.ts";
import { discoveryRoutes } from "./discovery/routes.ts";
import { docsPageRoutes } from "./docs-page/routes.ts";
import { effectivePermissionRoutes } from "./effective-permission/routes.ts";
import { entitlementSetRoutes } from "./entitlement-set/routes.ts";
import type { Route } from "./http/route.ts";
import { openApiRoutes } from "./openapi/routes.ts";
import { organizationRoutes } from "./organization/routes.ts";
import { organizationMembershipRoutes } from "./organization-membership/routes.ts";
import { projectRoutes } from "./project/routes.ts";
import { remoteStateConsumerRoutes } from "./remote-state-consumer/routes.ts";
import { reservedTagKeyRoutes } from "./reserved-tag-key/routes.ts";
import { sshKeyRoutes } from "./ssh-key/routes.ts";
import { stateVersionRoutes } from "./state-version/routes.ts";
import { stateVersionOutputRoutes } from "./state-version-output/routes.ts";
import { organizationTagRoutes } from "./tag/organization-routes.ts";
import { tagRoutes } from "./tag/routes.ts";
import { tagBindingRoutes } from "./tag-binding/routes.ts";
import { teamRoutes } from "./team/routes.ts";
import { teamProjectRoutes, teamWorkspaceRoutes } from "./team-access/routes.ts";
import { tokenTtlPolicyRoutes } from "./token-ttl-policy/routes.ts";
import { userRoutes } from "./user/routes.ts";
import { workspaceRoutes } from "./workspace/routes.ts";
import { workspaceLockRoutes } from "./workspace-lock/routes.ts";
import { workspaceResourceRoutes } from "./workspace-resource/routes.ts";

/** All routes. The router uses this list; a test checks that each declared status of these routes is reached. */
export const routes: readonly Route[] = [
  ...discoveryRoutes,
  ...openApiRoutes(() => routes),
  ...docsPageRoutes,
  ...changelogRoutes,
  ...avatarRoutes,
  ...tokenSettingsPageRoutes,
  ...accountRoutes,
  ...authenticationTokenRoutes,
  ...adminRoutes,
  ...userRoutes,
  ...organizationRoutes,
  ...agentPoolRoutes,
  ...entitlementSetRoutes,
  ...organizationMembershipRoutes,
  ...organizationTokenRoutes,
  ...tokenTtlPolicyRoutes,
  ...auditTrailRoutes,
  ...teamRoutes,
  ...teamTokenRoutes,
  ...teamProjectRoutes,
  ...teamWorkspaceRoutes,
  ...projectRoutes,
  ...workspaceRoutes,
  ...workspaceLockRoutes,
  ...effectivePermissionRoutes,
  ...remoteStateConsumerRoutes,
  ...sshKeyRoutes,
  ...dataRetentionPolicyRoutes,
  ...tagRoutes,
  ...organizationTagRoutes,
  ...reservedTagKeyRoutes,
  ...tagBindingRoutes,
  ...stateVersionRoutes,
  ...backingDataRoutes,
  ...stateVersionOutputRoutes,
  ...workspaceResourceRoutes,
];
