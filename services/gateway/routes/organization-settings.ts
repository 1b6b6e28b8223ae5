import type { MessageInitShape } from "@bufbuild/protobuf";
import type { OrganizationSettingsSchema } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { z } from "zod";
import { documentBody, optional, section, typeOf } from "../jsonapi/body.ts";
import { given } from "../jsonapi/given.ts";
import type { Pointers } from "../jsonapi/pointers.ts";
import { defaultAgentPoolIn, nullableLinkage } from "./nullable-linkage.ts";

/** Whole minutes; what is no positive number the service refuses with the others. */
const minutes = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

const settings = {
  email: optional(z.string()),
  "default-execution-mode": optional(z.string()),
  "default-agent-pool-id": optional(z.string()),
  "allow-force-delete-workspaces": optional(z.boolean()),
  "assessments-enforced": optional(z.boolean()),
  "user-tokens-enabled": optional(z.boolean()),
  "collaborator-auth-policy": optional(z.string()),
  "cost-estimation-enabled": optional(z.boolean()),
  "send-passing-statuses-for-untriggered-speculative-plans": optional(z.boolean()),
  "aggregated-commit-status-enabled": optional(z.boolean()),
  "speculative-plan-management-enabled": optional(z.boolean()),
  "session-timeout": optional(minutes),
  "session-remember": optional(minutes),
  "owners-team-saml-role-id": optional(z.string()),
};

const relationships = section(z.object({ "default-agent-pool": nullableLinkage("agent-pools") }));

const bodyWith = <Name extends z.ZodType>(name: Name) =>
  documentBody(
    z.object({
      type: typeOf("organizations"),
      attributes: section(z.object({ ...settings, name })),
      relationships,
    }),
  );

/** The body of a create: a name must be given. */
export const createOrganizationBody = bodyWith(z.string());

/** The body of an update: what is left out keeps its value. */
export const updateOrganizationBody = bodyWith(optional(z.string()));

/** Where these bodies hold fields of the settings that are not the attribute of the same name. */
export const organizationPointers = {
  newName: "/data/attributes/name",
  defaultAgentPoolId: "/data/relationships/default-agent-pool",
} satisfies Pointers;

type Settings = MessageInitShape<typeof OrganizationSettingsSchema>;

/** The settings of a body, as the workspaces service takes them. */
export function organizationSettings({ data }: z.infer<typeof updateOrganizationBody>): Settings {
  const { attributes } = data;
  return given({
    email: attributes.email,
    defaultExecutionMode: attributes["default-execution-mode"],
    allowForceDeleteWorkspaces: attributes["allow-force-delete-workspaces"],
    assessmentsEnforced: attributes["assessments-enforced"],
    userTokensEnabled: attributes["user-tokens-enabled"],
    collaboratorAuthPolicy: attributes["collaborator-auth-policy"],
    costEstimationEnabled: attributes["cost-estimation-enabled"],
    sendPassingStatusesForUntriggeredSpeculativePlans:
      attributes["send-passing-statuses-for-untriggered-speculative-plans"],
    aggregatedCommitStatusEnabled: attributes["aggregated-commit-status-enabled"],
    speculativePlanManagementEnabled: attributes["speculative-plan-management-enabled"],
    sessionTimeout: attributes["session-timeout"],
    sessionRemember: attributes["session-remember"],
    ownersTeamSamlRoleId: attributes["owners-team-saml-role-id"],
    defaultAgentPoolId: defaultAgentPoolIn(data),
  });
}
