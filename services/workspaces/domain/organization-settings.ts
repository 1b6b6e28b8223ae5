import { isCollaboratorAuthPolicy } from "./collaborator-auth-policy.ts";
import {
  type DefaultExecutionInput,
  unknownDefaultAgentPool,
  wantedDefaultExecution,
} from "./default-execution.ts";
import type { Organization } from "./organization.ts";
import type { Problems } from "./problems.ts";
import { checkText, inWords, limits } from "./text.ts";

const booleans = [
  "allowForceDeleteWorkspaces",
  "assessmentsEnforced",
  "userTokensEnabled",
  "costEstimationEnabled",
  "sendPassingStatusesForUntriggeredSpeculativePlans",
  "aggregatedCommitStatusEnabled",
  "speculativePlanManagementEnabled",
] as const satisfies readonly (keyof Organization)[];

/** Minutes, with the attribute of each. */
const durations = {
  sessionTimeout: "session-timeout",
  sessionRemember: "session-remember",
} as const satisfies { [Name in keyof Organization]?: string };

type Duration = keyof typeof durations;

/** What create and update accept; absent: the default on create, the previous value on update. */
export type OrganizationSettings = DefaultExecutionInput & {
  email?: string | undefined;
  collaboratorAuthPolicy?: string | undefined;
  ownersTeamSamlRoleId?: string | undefined;
} & { [Name in (typeof booleans)[number]]?: boolean | undefined } & {
  [Name in Duration]?: number | undefined;
};

interface Circumstances {
  problems: Problems;
  /** The wanted default pool is one of the organization's. */
  poolKnown?: boolean;
}

// One @ between something and a host with a dot; whether it exists, only a message sent there tells.
const EMAIL = /^[^\s@]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?\.[A-Za-z]{2,63}$/;

/** Applies settings; `problems` gets whatever breaks a rule. */
export function applyOrganizationSettings(
  organization: Organization,
  settings: OrganizationSettings,
  { problems, poolKnown = false }: Circumstances,
): void {
  if (settings.email !== undefined) {
    if (settings.email === "") problems.add("email", "Email can't be blank");
    else if (!EMAIL.test(settings.email)) problems.add("email", "Email is invalid");
    organization.email = settings.email;
  }
  for (const name of booleans) {
    const value = settings[name];
    if (value !== undefined) organization[name] = value;
  }
  for (const name of Object.keys(durations) as Duration[]) {
    const value = settings[name];
    if (value === undefined) continue;
    if (value < 1) problems.add(durations[name], `${inWords(durations[name])} must be above 0`);
    organization[name] = value;
  }
  const { collaboratorAuthPolicy, ownersTeamSamlRoleId } = settings;
  if (collaboratorAuthPolicy !== undefined) {
    if (isCollaboratorAuthPolicy(collaboratorAuthPolicy))
      organization.collaboratorAuthPolicy = collaboratorAuthPolicy;
    else problems.add("collaborator-auth-policy", "Collaborator auth policy is invalid");
  }
  if (ownersTeamSamlRoleId !== undefined) {
    checkText("owners-team-saml-role-id", ownersTeamSamlRoleId, limits.samlRoleId, problems);
    organization.ownersTeamSamlRoleId = ownersTeamSamlRoleId || null;
  }
  const { defaultExecutionMode, defaultAgentPoolId } = wantedDefaultExecution(
    organization,
    settings,
    problems,
  );
  if (settings.defaultAgentPoolId && !poolKnown) unknownDefaultAgentPool(problems);
  organization.defaultExecutionMode = defaultExecutionMode;
  organization.defaultAgentPoolId = defaultAgentPoolId;
}
