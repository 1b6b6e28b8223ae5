create table if not exists workspaces (
  id text primary key,
  organization_id text not null,
  name text,
  name_revision bigint not null default 0,
  locked_by text,
  lock_revision bigint not null default 0,
  deleted_revision bigint
);
