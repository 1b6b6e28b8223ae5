import { badRequest, conflict, invalid, notFound, unauthenticated } from "@statehouse/errors";

/** Text of the problem of a username or e-mail address that another user has. */
export const USERNAME_TAKEN = "Username has already been taken";
export const EMAIL_TAKEN = "Email has already been taken";
/** Text of the problem of a name that another team of the organization has. */
export const TEAM_NAME_TAKEN = "Name has already been taken";

export const usernameTaken = () => invalid([{ field: "username", detail: USERNAME_TAKEN }]);
export const emailTaken = () => invalid([{ field: "email", detail: EMAIL_TAKEN }]);
export const teamNameTaken = () => invalid([{ field: "name", detail: TEAM_NAME_TAKEN }]);

/** Clients match title and text. */
export const tokenDescriptionTaken = () =>
  invalid([
    {
      field: "description",
      title: "invalid attributes",
      detail: "Validation failed: Description has already been taken",
    },
  ]);

export const unknownTokenSlot = () => badRequest("token", "token must be audit-trails.");
export const unknownTargetType = () =>
  badRequest("target_type", "Target type must be project or workspace.");

/** Without an owner, no member could change the organization. */
export const lastOwner = () =>
  conflict("last_owner", "The team owners must keep at least one member.");

/** Another runner created tokens for this run, or this runner created some for another workspace. */
export const runOfOther = () =>
  conflict("run_of_other", "The run belongs to another runner or another workspace.");

export const ownersTeamProtected = () =>
  conflict("owners_team", "The team owners can neither be deleted nor renamed.");

/** Without an administrator, no user could administer the installation. */
export const lastAdministrator = () =>
  conflict("last_administrator", "The installation must keep at least one administrator.");

export const userNotFound = () => notFound("user");
/** A token of a user, team, organization or run. */
export const tokenNotFound = () => notFound("token");
export const teamAccessNotFound = () => notFound("team access");
export const organizationMembershipNotFound = () => notFound("organization membership");
export const teamNotFound = () => notFound("team");
export const organizationNotFound = () => notFound("organization");
export const workspaceNotFound = () => notFound("workspace");
export const projectNotFound = () => notFound("project");
export const runNotFound = () => notFound("run");
export const principalNotFound = () => notFound("principal");

/** The text is the same for every cause, because the response must not reveal which tokens were once valid. */
export const tokenRefused = () => unauthenticated();
