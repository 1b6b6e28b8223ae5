import {
  badRequest,
  conflict,
  invalid,
  notFound,
  unauthenticated,
  unavailable,
} from "@statehouse/errors";

/** The message for a username that another user has. */
export const USERNAME_TAKEN = "Username has already been taken";
/** The message for an e-mail address that another user has. */
export const EMAIL_TAKEN = "Email has already been taken";
/** The message for a name that another team of the organization has. */
export const TEAM_NAME_TAKEN = "Name has already been taken";
/** The message for a team that already has access to the target. */
export const TEAM_TAKEN = "Team has already been taken";

export const usernameTaken = () => invalid([{ field: "username", detail: USERNAME_TAKEN }]);
export const emailTaken = () => invalid([{ field: "email", detail: EMAIL_TAKEN }]);
export const teamNameTaken = () => invalid([{ field: "name", detail: TEAM_NAME_TAKEN }]);
export const teamTaken = () => invalid([{ field: "teamId", detail: TEAM_TAKEN }]);

/**
 * Thrown if an organization invites an e-mail address while the invitations of this address are being moved to the user
 * who owns the address.
 */
export const addressInvitedMeanwhile = () =>
  unavailable("address_invited", "The address was invited at the same time; repeat the request.");

/** Thrown if an organization invites the user while the user is being deleted. */
export const userInvitedMeanwhile = () =>
  unavailable("user_invited", "The user was invited at the same time; repeat the request.");

/** Clients recognize this error by its title and message. */
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

/**
 * Thrown if a change would leave an organization without active owners: no member could administer the organization.
 */
export const lastOwner = () =>
  conflict("last_owner", "The team 'owners' must keep at least one member.");

/**
 * Thrown if another runner has reported the run or created tokens for it, or if its tokens are bound to another
 * workspace.
 */
export const runOfOther = () =>
  conflict("run_of_other", "The run belongs to another runner or another workspace.");

export const ownersTeamProtected = () =>
  conflict("owners_team", "The team 'owners' can neither be deleted nor renamed.");

/**
 * Thrown if a change would leave the installation without administrators: no user could administer the installation.
 */
export const lastAdministrator = () =>
  conflict("last_administrator", "The installation must keep at least one administrator.");

export const userNotFound = () => notFound("user");
/** Thrown for unknown tokens of users, teams, organizations and runs. */
export const tokenNotFound = () => notFound("token");
export const teamAccessNotFound = () => notFound("team access");
export const organizationMembershipNotFound = () => notFound("organization membership");
export const teamNotFound = () => notFound("team");
export const organizationNotFound = () => notFound("organization");
export const workspaceNotFound = () => notFound("workspace");
export const projectNotFound = () => notFound("project");
export const runNotFound = () => notFound("run");
export const principalRequired = () =>
  badRequest("principal", "Exactly one user or team is required.");

export const principalNotFound = () => notFound("principal");

/** The message is the same for every cause, because the response must not reveal which tokens were once valid. */
export const tokenRefused = () => unauthenticated();
