create table if not exists workspaces (
  id text primary key,
  organization_id text not null,
  name text,
  name_revision bigint not null default 0,
  locked_by text,
  lock_revision bigint not null default 0,
  deleted_revision bigint,
  -- The time at which an event last named the workspace, even if that event was not newer and changed nothing else.
  named_at timestamptz not null default clock_timestamp()
);

create table if not exists checkpoints (
  consumer text primary key,
  created text not null,
  position bigint not null
);
