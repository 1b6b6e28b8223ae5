-- Finds the locked workspaces of an organization, and the oldest lock, without reading the others.
create index workspaces_locked on workspaces (organization_id, lock_since) where lock_since is not null;
