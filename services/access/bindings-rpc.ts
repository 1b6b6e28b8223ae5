import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { EffectivePermissionService } from "@statehouse/proto/statehouse/access/v1/effective_permission";
import { GrantsService } from "@statehouse/proto/statehouse/access/v1/grants";
import { OrganizationAccessService } from "@statehouse/proto/statehouse/access/v1/organization";
import { OrganizationMembershipService } from "@statehouse/proto/statehouse/access/v1/organization_membership";
import { PrincipalNameService } from "@statehouse/proto/statehouse/access/v1/principal_name";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { TeamAccessService } from "@statehouse/proto/statehouse/access/v1/team_access";
import { TokenService } from "@statehouse/proto/statehouse/access/v1/token";
import { TokenTtlPolicyService } from "@statehouse/proto/statehouse/access/v1/token_ttl_policy";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { RunTokenService } from "@statehouse/proto/statehouse/runs/v1/run_token";
import { implement, type ServiceBinding } from "@statehouse/rpc";
import type { App } from "./app.ts";
import { authenticationService } from "./authentication/rpc.ts";
import { effectivePermissionService } from "./effective-permission/rpc.ts";
import { grantsService } from "./grants/rpc.ts";
import { organizationAccessService } from "./organization/rpc.ts";
import { organizationMembershipService } from "./organization-membership/rpc.ts";
import { principalNameService } from "./principal-name/rpc.ts";
import { runTokenService } from "./run-token/rpc.ts";
import { teamService } from "./team/rpc.ts";
import { teamAccessService } from "./team-access/rpc.ts";
import { tokenService } from "./token/rpc.ts";
import { tokenTtlPolicyService } from "./token-ttl-policy/rpc.ts";
import { userService } from "./user/rpc.ts";

/** The gRPC services that the access service implements. */
export const bindings = (app: App): ServiceBinding[] => [
  implement(AuthenticationService, authenticationService(app)),
  implement(EffectivePermissionService, effectivePermissionService(app)),
  implement(GrantsService, grantsService(app)),
  implement(OrganizationAccessService, organizationAccessService(app)),
  implement(OrganizationMembershipService, organizationMembershipService(app)),
  implement(PrincipalNameService, principalNameService(app)),
  implement(RunTokenService, runTokenService(app)),
  implement(TeamService, teamService(app)),
  implement(TeamAccessService, teamAccessService(app)),
  implement(TokenService, tokenService(app)),
  implement(TokenTtlPolicyService, tokenTtlPolicyService(app)),
  implement(UserService, userService(app)),
];
