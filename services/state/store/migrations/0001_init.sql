create table workspace_state (
  workspace_id text primary key,
  organization_id text,
  project_id text,
  placement_version bigint not null,
  sealed_epoch bigint not null,
  current_version_id text,
  current_position bigint not null,
  resource_count integer not null,
  latest_change_at timestamptz,
  revision bigint not null,
  dropped_at timestamptz,
  collected_at timestamptz
);
-- Dropped workspaces to be purged.
create index workspace_state_uncollected on workspace_state (dropped_at)
  where dropped_at is not null and collected_at is null;

create table state_version (
  id text primary key,
  workspace_id text not null references workspace_state (workspace_id),
  position bigint not null,
  lock_epoch bigint not null,
  serial bigint not null,
  md5 text not null,
  lineage text not null,
  status text not null,
  intermediate boolean not null,
  created_at timestamptz not null,
  created_by_type text not null,
  created_by_id text not null,
  run_id text,
  expires_at timestamptz not null,
  blob_key text,
  size bigint,
  sha256 text,
  json_blob_key text,
  json_size bigint,
  json_sha256 text,
  outputs_given boolean not null,
  resources_processed boolean not null,
  resource_count integer not null,
  format_version integer,
  engine_version text,
  resources jsonb not null default '[]',
  modules jsonb not null default '{}',
  providers jsonb not null default '{}',
  extraction_due_at timestamptz,
  extraction_attempts integer not null,
  extraction_error text,
  constraint state_version_creation unique (workspace_id, lock_epoch, serial, md5)
);
create unique index state_version_position on state_version (workspace_id, position);
-- Lists by status.
create index state_version_status on state_version (workspace_id, status, position);
-- The few versions that sealing a lock reads.
create index state_version_unsettled on state_version (workspace_id, position)
  where status = 'pending' or intermediate;
create index state_version_expiry on state_version (expires_at) where status = 'pending';
create index state_version_extraction on state_version (extraction_due_at)
  where extraction_due_at is not null;

create table state_version_output (
  id text primary key,
  state_version_id text not null references state_version (id),
  position integer not null,
  name text not null,
  sensitive boolean not null,
  type text not null,
  -- JSON as text, not jsonb, which would normalize values.
  detailed_type text not null,
  -- Exactly one is set; sensitive values are sealed.
  value text,
  sealed_value text
);
create unique index state_version_output_position
  on state_version_output (state_version_id, position);

create table blob (
  key text primary key,
  workspace_id text not null,
  size bigint not null,
  sha256 text not null,
  "references" integer not null,
  created_at timestamptz not null
);

-- Keys without references. Bytes are deleted only for keys in this table.
create table blob_deletions (
  key text primary key,
  due_at timestamptz not null
);
create index blob_deletions_due on blob_deletions (due_at);
