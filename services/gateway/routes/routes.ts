import type { Route } from "../http/route.ts";
import { accountRoutes } from "./account.ts";
import { adminRoutes } from "./admin.ts";
import { agentPoolRoutes } from "./agent-pools.ts";
import { auditTrailRoutes } from "./audit-trail.ts";
import { authenticationTokenRoutes } from "./authentication-tokens.ts";
import { avatarRoutes } from "./avatars.ts";
import { backingDataRoutes } from "./backing-data.ts";
import { changelogRoutes } from "./changelog.ts";
import { dataRetentionPolicyRoutes } from "./data-retention-policies.ts";
import { discoveryRoutes } from "./discovery.ts";
import { docsPageRoutes } from "./docs-page.ts";
import { effectivePermissionRoutes } from "./effective-permissions.ts";
import { entitlementSetRoutes } from "./entitlement-sets.ts";
import { openApiRoutes } from "./openapi.ts";
import { organizationMembershipRoutes } from "./organization-memberships.ts";
import { organizationTagRoutes } from "./organization-tags.ts";
import { organizationTokenRoutes } from "./organization-tokens.ts";
import { organizationRoutes } from "./organizations.ts";
import { projectRoutes } from "./projects.ts";
import { remoteStateConsumerRoutes } from "./remote-state-consumers.ts";
import { reservedTagKeyRoutes } from "./reserved-tag-keys.ts";
import { sshKeyRoutes } from "./ssh-keys.ts";
import { stateVersionOutputRoutes } from "./state-version-outputs.ts";
import { stateVersionRoutes } from "./state-versions.ts";
import { tagBindingRoutes } from "./tag-bindings.ts";
import { tagRoutes } from "./tags.ts";
import { teamProjectRoutes, teamWorkspaceRoutes } from "./team-access.ts";
import { teamTokenRoutes } from "./team-tokens.ts";
import { teamRoutes } from "./teams.ts";
import { tokenSettingsPageRoutes } from "./token-settings-page.ts";
import { tokenTtlPolicyRoutes } from "./token-ttl-policies.ts";
import { userRoutes } from "./users.ts";
import { workspaceLockRoutes } from "./workspace-lock.ts";
import { workspaceResourceRoutes } from "./workspace-resources.ts";
import { workspaceRoutes } from "./workspaces.ts";

/** All routes. The router uses this list, and so does the test that checks that each declared status is reached. */
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
