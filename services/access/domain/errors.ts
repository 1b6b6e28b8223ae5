import {
  badRequest,
  conflict,
  type FieldError,
  invalid,
  inWords,
  notFound,
  quoted,
  unauthenticated,
} from "@statehouse/errors";

export const invalidUsername: FieldError = { field: "username", detail: "Username is invalid" };
export const usernameTaken: FieldError = {
  field: "username",
  detail: "Username has already been taken",
};
export const invalidEmail: FieldError = { field: "email", detail: "Email is invalid" };
export const emailTaken: FieldError = { field: "email", detail: "Email has already been taken" };

export const invalidDescription: FieldError = {
  field: "description",
  detail: "Description is invalid",
};
export const invalidExpiry: FieldError = { field: "expiredAt", detail: "Expired at is invalid" };
export const expiryNotInFuture: FieldError = {
  field: "expiredAt",
  detail: "Expired at must be in the future",
};

export const invalidTeamName: FieldError = { field: "name", detail: "Name is invalid" };
export const teamNameTaken: FieldError = { field: "name", detail: "Name has already been taken" };
export const invalidVisibility: FieldError = {
  field: "visibility",
  detail: "Visibility must be secret or organization",
};
export const unknownOrganizationAccess = (name: string): FieldError => ({
  field: `organizationAccess[${name}]`,
  detail: `Organization access ${quoted(name)} is unknown`,
});

/** `read, write or admin`. */
const either = (values: readonly unknown[]): string =>
  values.length < 2
    ? values.map(String).join("")
    : `${values.slice(0, -1).map(String).join(", ")} or ${String(values.at(-1))}`;

const permissionField = (name: string) => `permissions[${name}]`;

export const invalidLevel = (levels: readonly string[]): FieldError => ({
  field: "access",
  detail: `Access must be ${either(levels)}`,
});
export const unknownPermission = (name: string): FieldError => ({
  field: permissionField(name),
  detail: `${inWords(name)} is no permission`,
});
export const badPermission = (name: string, values: readonly unknown[]): FieldError => ({
  field: permissionField(name),
  detail: `${inWords(name)} must be ${either(values)}`,
});
export const readOnlyPermission = (name: string, access: string): FieldError => ({
  field: permissionField(name),
  detail: `${inWords(name)} is read-only when access level is '${access}'; use the 'custom' access level to set this attribute.`,
});
export const teamHasAccess: FieldError = {
  field: "teamId",
  detail: "Team has already been taken",
};

export const unknownTargetType = () =>
  badRequest("target_type", "Target type must be project or workspace.");

export const descriptionMissing: FieldError = {
  field: "description",
  detail: "Description can't be blank",
};
/** Clients match title and text. */
export const descriptionTaken: FieldError = {
  field: "description",
  title: "invalid attributes",
  detail: "Validation failed: Description has already been taken",
};
export const expiryTooLate = (days: number): FieldError => ({
  field: "expiredAt",
  detail: `Expired at must be within ${days} days`,
});
export const unknownSlot = () => badRequest("token", "token must be audit-trails.");

export const invalidSsoTeamId: FieldError = {
  field: "ssoTeamId",
  detail: "Sso team id is invalid",
};
export const badOrganizationAccess = (name: string): FieldError => ({
  field: `organizationAccess[${name}]`,
  detail: `${inWords(name)} must be true or false`,
});

export const alreadyMember: FieldError = {
  field: "email",
  detail: "Email has already been taken",
};

/** Throws `invalid` with all problems, if there are any. */
export function throwIfAny(problems: readonly FieldError[]): void {
  if (problems.length > 0) throw invalid(problems);
}

/** Without an owner nobody could ever change the organization again. */
export const lastOwner = () =>
  conflict("last_owner", "The team owners must keep at least one member.");

/** Another runner has tokens for this run, or this one has for another workspace. */
export const runOfOther = () =>
  conflict("run_of_other", "The run belongs to another runner or another workspace.");

export const ownersTeamStays = () =>
  conflict("owners_team", "The team owners can neither be deleted nor renamed.");

/** Without one nobody could administer the installation. */
export const lastAdministrator = () =>
  conflict("last_administrator", "The installation must keep at least one administrator.");

export const noSuchUser = () => notFound("user");
export const noSuchToken = () => notFound("token");
export const noSuchTeamAccess = () => notFound("team access");
export const noSuchMembership = () => notFound("organization membership");
export const noSuchRunToken = () => notFound("token");
export const noSuchTeam = () => notFound("team");
export const noSuchOrganization = () => notFound("organization");
export const noSuchPrincipal = () => notFound("principal");

/** The same for every cause, so that nobody learns which tokens once were good. */
export const tokenRefused = () => unauthenticated();
