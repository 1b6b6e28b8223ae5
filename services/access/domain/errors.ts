import { conflict, type FieldError, invalid, notFound, unauthenticated } from "@statehouse/errors";

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
export const invalidExpiry: FieldError = { field: "expired-at", detail: "Expired at is invalid" };
export const expiryNotInFuture: FieldError = {
  field: "expired-at",
  detail: "Expired at must be in the future",
};

export const invalidTeamName: FieldError = { field: "name", detail: "Name is invalid" };
export const teamNameTaken: FieldError = { field: "name", detail: "Name has already been taken" };
export const invalidVisibility: FieldError = {
  field: "visibility",
  detail: "Visibility must be secret or organization",
};
export const unknownOrganizationAccess = (name: string): FieldError => ({
  field: "organization-access",
  detail: `Organization access ${name} is unknown`,
});

export const invalidLevel: FieldError = {
  field: "access",
  detail: "Access must be read, write, maintain or admin",
};
export const teamProjectTaken: FieldError = {
  field: "/data/relationships/team",
  detail: "Team has already been taken",
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

export const noSuchUser = () => notFound("user");
export const noSuchUserToken = () => notFound("token");
export const noSuchRunToken = () => notFound("token");
export const noSuchTeam = () => notFound("team");
export const noSuchOrganization = () => notFound("organization");
export const noSuchProject = () => notFound("project");
export const noSuchPrincipal = () => notFound("principal");

/** The same for every cause, so that nobody learns which tokens once were good. */
export const tokenRefused = () => unauthenticated();
