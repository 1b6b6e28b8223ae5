import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import type {
  Organization,
  OrganizationSettingsSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { z } from "zod";
import {
  ownDataRetentionPolicy,
  retentionInWords,
  stateVersionDaysOf,
} from "../data-retention-policy/resource.ts";
import { entitlementSetResource, entitlementsOf } from "../entitlement-set/resource.ts";
import { editionsOf } from "../http/editions.ts";
import type { RequestContext } from "../http/route.ts";
import { nullableLinkage } from "../jsonapi/body.ts";
import { attributesOf, type FieldsOf, type Noun } from "../jsonapi/noun.ts";
import { related, toMany, toOne, toOneOf } from "../jsonapi/relationship.ts";
import { groupOf, resource } from "../jsonapi/resource.ts";
import { optionalText, time } from "../jsonapi/shape.ts";
import { permissionsFrom } from "../permissions-resource.ts";
import { projectResource } from "../project/resource.ts";
import { timestamp } from "../timestamps-resource.ts";
import { administeredUserResource } from "../user/resource.ts";

export const organizationPermissions = {
  "can-update": "organization:update",
  "can-update-authentication-token": "organization:update",
  "can-view-authentication": "organization:update",
  "can-destroy": "organization:delete",
  "can-access-via-teams": "organization:read",
  "can-create-module": null,
  "can-create-team": "organization:manage-teams",
  "can-create-workspace": "project:create-workspace",
  "can-create-project": "project:create",
  "can-manage-users": "organization:manage-membership",
  "can-view-users": "organization:read",
  "can-manage-subscription": null,
  "can-manage-sso": null,
  "can-update-oauth": null,
  "can-update-sentinel": null,
  "can-update-ssh-keys": "organization:manage-ssh-keys",
  "can-update-api-token": "organization:update",
  "can-traverse": "organization:read",
  "can-view-usage": null,
  "can-update-agent-pools": "organization:manage-agent-pools",
  "can-manage-tags": "organization:manage-workspaces",
  "can-manage-varsets": null,
  "can-read-varsets": null,
  "can-manage-public-providers": null,
  "can-create-provider": null,
  "can-manage-public-modules": null,
  "can-manage-custom-providers": null,
  "can-manage-run-tasks": null,
  "can-read-run-tasks": null,
  "can-manage-assessments": null,
  "can-read-assessments": null,
  "can-view-explorer": null,
  "can-deploy-no-code-modules": null,
  "can-manage-no-code-modules": null,
} as const;

/** Whole minutes. 0 is accepted here, so that the workspaces service refuses it together with all other problems. */
const minutes = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

type Fields = FieldsOf<typeof OrganizationSettingsSchema> & { name: string };

/** The attributes that clients send for an organization. Documents show further attributes. */
export const organizationNoun: Noun<Fields, Organization, RequestContext> = {
  type: "organizations",
  attributes: {
    name: { field: "name", in: z.string() },
    email: { field: "email", in: z.string() },
    "default-execution-mode": { field: "defaultExecutionMode", in: z.string() },
    "default-agent-pool-id": { field: "defaultAgentPoolId", in: z.string(), writeOnly: true },
    "allow-force-delete-workspaces": { field: "allowForceDeleteWorkspaces", in: z.boolean() },
    "assessments-enforced": { field: "assessmentsEnforced", in: z.boolean() },
    "user-tokens-enabled": { field: "userTokensEnabled", in: z.boolean() },
    "max-ttl-enabled": { field: "maxTtlEnabled", in: z.boolean() },
    // Always false, because this product does not support stacks.
    "stacks-enabled": {
      in: z.literal(false).transform(() => ({})),
      out: () => false,
      shown: z.literal(false),
    },
    "collaborator-auth-policy": { field: "collaboratorAuthPolicy", in: z.string() },
    "cost-estimation-enabled": { field: "costEstimationEnabled", in: z.boolean() },
    "send-passing-statuses-for-untriggered-speculative-plans": {
      field: "sendPassingStatusesForUntriggeredSpeculativePlans",
      in: z.boolean(),
    },
    "aggregated-commit-status-enabled": { field: "aggregatedCommitStatusEnabled", in: z.boolean() },
    "speculative-plan-management-enabled": {
      field: "speculativePlanManagementEnabled",
      in: z.boolean(),
    },
    "session-timeout": { field: "sessionTimeout", in: minutes, shown: z.int().nullable() },
    "session-remember": { field: "sessionRemember", in: minutes, shown: z.int().nullable() },
    "owners-team-saml-role-id": {
      field: "ownersTeamSamlRoleId",
      in: z.string(),
      shown: optionalText,
    },
  },
  relationships: {
    // If a body also contains the attribute `default-agent-pool-id`, which sets the same field, this relationship takes
    // precedence.
    "default-agent-pool": { field: "defaultAgentPoolId", in: nullableLinkage("agent-pools") },
  },
};

/**
 * Describes the installation's retention policy in words; undefined in editions without policies. That policy applies to
 * the organization unless the organization has its own.
 */
function parentPolicy({ siteDataRetentionPolicy: policy }: Organization, context: RequestContext) {
  if (!context.edition.has("data-retention-policies")) return undefined;
  const days = policy && retentionInWords(stateVersionDaysOf(policy));
  const text = days ? `State versions are deleted after ${days}.` : "State versions are kept.";
  return policy ? text : null;
}

const pathOf = (name: string) => `/api/v2/organizations/${name}`;

/**
 * The id in documents is the organization's name. The internal id, which is never reused, is shown only as
 * `external-id`.
 */
export const organizationResource = resource<Organization, RequestContext>({
  type: "organizations",
  id: ({ name }) => name,
  attributes: {
    ...attributesOf(organizationNoun),
    "parent-data-retention-policy-info": [
      optionalText.optional().meta(editionsOf("data-retention-policies")),
      parentPolicy,
    ],
    "external-id": [z.string(), ({ externalId }) => externalId],
    "created-at": [time, ({ createdAt }) => timestamp(createdAt)],
    "plan-expired": [z.boolean(), () => false],
    "plan-expires-at": [z.null(), () => null],
    "plan-is-trial": [z.boolean(), () => false],
    "plan-is-enterprise": [z.boolean(), () => false],
    "plan-identifier": [z.string(), ({ plan }) => plan],
    "fair-run-queuing-enabled": [z.boolean(), () => false],
    "saml-enabled": [z.boolean(), () => false],
    "two-factor-conformant": [z.boolean(), () => true],
    "project-count": [z.int().nullable(), ({ projectCount }) => projectCount ?? null],
    "workspace-count": [z.int().nullable(), ({ workspaceCount }) => workspaceCount ?? null],
    permissions: permissionsFrom(organizationPermissions),
  },
  relationships: {
    "default-project": toOneOf({
      type: "projects",
      idOf: ({ defaultProjectId }) => defaultProjectId,
      link: ({ defaultProjectId }) => `/api/v2/projects/${defaultProjectId}`,
      resource: () => projectResource,
    }),
    "default-agent-pool": toOneOf({
      type: "agent-pools",
      idOf: ({ defaultAgentPoolId }) => defaultAgentPoolId,
    }),
    "data-retention-policy": ownDataRetentionPolicy<Organization>(),
    "entitlement-set": toOne({
      linkage: ({ name }) => ({ type: "entitlement-sets", id: name }),
      link: ({ name }) => `${pathOf(name)}/entitlement-set`,
      targets: [
        {
          resource: () => entitlementSetResource,
          load: async (organizations, { settings }) =>
            groupOf(
              entitlementSetResource,
              organizations.map(({ name }) => entitlementsOf(name, settings)),
            ),
        },
      ],
    }),
    "authentication-token": related(({ name }) => `${pathOf(name)}/authentication-token`),
    "audit-trails-authentication-token": related(
      ({ name }) => `${pathOf(name)}/authentication-token?token=audit-trails`,
    ),
    workspaces: related(({ name }) => `${pathOf(name)}/workspaces`),
    projects: related(({ name }) => `${pathOf(name)}/projects`),
  },
  links: ({ name }) => ({ self: pathOf(name) }),
  loadMany: async (ids, { client, caller }) =>
    (await client(OrganizationService).batchGetOrganizations({ ids: [...ids] }, caller))
      .organizations,
});

/**
 * An organization in the form that other documents include, without its default project. go-tfe follows links between
 * included resources, so it would alternate between organization and project until its stack overflows.
 */
export const includedOrganizationResource = resource<Organization, RequestContext>({
  ...organizationResource,
  variant: "included",
  relationships: {
    ...organizationResource.relationships,
    "default-project": related(({ defaultProjectId }) => `/api/v2/projects/${defaultProjectId}`),
  },
});

/** An organization as administrators see it. */
export const administeredOrganizationResource = resource<Organization, RequestContext>({
  ...organizationResource,
  variant: "administered",
  attributes: {
    ...organizationResource.attributes,
    "workspace-limit": [z.int().nullable(), ({ workspaceLimit }) => workspaceLimit ?? null],
  },
  relationships: {
    ...organizationResource.relationships,
    owners: toMany({
      resource: () => administeredUserResource,
      keyOf: ({ externalId }) => externalId,
      loadFor: async (organizationIds, { client, caller }) => {
        const request = { organizationIds: [...organizationIds] };
        const { owners } = await client(UserService).batchListOrganizationOwners(request, caller);
        return owners.flatMap(({ user, organizationId }) =>
          user ? [{ ...user, organizationId }] : [],
        );
      },
      parentKeyOf: ({ organizationId = "" }) => organizationId,
    }),
  },
});
