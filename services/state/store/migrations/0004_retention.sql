-- One row: retention answers with a lower version are outdated.
create table retention_version (
  only_row boolean primary key default true check (only_row),
  version bigint not null
);
insert into retention_version (version) values (0);

-- One row for each kind of scan, shared by all replicas; seen, found and bytes count since the scan began.
create table pass (
  name text primary key,
  after text not null default '',
  holder text,
  due_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  seen bigint not null default 0,
  found bigint not null default 0,
  bytes bigint not null default 0
);
insert into pass (name, due_at) values ('retention', now()), ('verification', now());

-- Versions with contents, which retention reads from the oldest on.
create index state_version_contents on state_version (workspace_id, position)
  where blob_key is not null;
-- Copies that share the blob of a version.
create index state_version_copies on state_version (blob_key)
  where rollback_version_id is not null;
-- The workspaces of an organization.
create index workspace_state_organization on workspace_state (organization_id)
  where dropped_at is null;
