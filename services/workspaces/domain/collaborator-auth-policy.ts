/** Whether an organization's people need a second factor. A record: nobody signs in with a password here. */
export const collaboratorAuthPolicies = ["password", "two_factor_mandatory"] as const;

export type CollaboratorAuthPolicy = (typeof collaboratorAuthPolicies)[number];

/** Narrows a text that came from outside. */
export const isCollaboratorAuthPolicy = (text: string): text is CollaboratorAuthPolicy =>
  collaboratorAuthPolicies.some((policy) => policy === text);
