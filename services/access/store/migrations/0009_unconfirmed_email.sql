-- The address that a user has entered and has not yet proved to own. Existing addresses remain confirmed (ADR 56).
alter table users add column unconfirmed_email text;
-- SHA-256 of the secret that only the invitation's mail contains; null for invitations of an earlier release.
alter table organization_memberships add column secret_hash text;
