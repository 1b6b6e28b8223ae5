-- What this service knows of each workspace. The row is locked by every transaction that changes its versions.
create table workspace_states (
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
  purged_at timestamptz
);
create index workspace_states_organization on workspace_states (organization_id)
  where dropped_at is null;
-- Dropped workspaces to be purged.
create index workspace_states_unpurged on workspace_states (dropped_at)
  where dropped_at is not null and purged_at is null;

create table state_versions (
  id text primary key,
  workspace_id text not null references workspace_states (workspace_id),
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
  -- The token that sent the create request. Null for a rollback's copy.
  created_token_id text,
  run_id text,
  rollback_version_id text,
  expires_at timestamptz not null,
  soft_deleted_at timestamptz,
  blob_key text,
  size bigint,
  sha256 text,
  json_blob_key text,
  json_size bigint,
  json_sha256 text,
  outputs_given boolean not null,
  resources_processed boolean not null,
  resource_count integer not null,
  billable_resource_count integer,
  format_version integer,
  engine_version text,
  resources jsonb not null default '[]',
  modules jsonb not null default '{}',
  providers jsonb not null default '{}',
  -- Number of all resources; null before extraction.
  resource_entries integer,
  -- What lists of versions show, so that they do not read the whole contents of large states. Null in versions of at
  -- most 100 resources, which are shown completely.
  listed_resources text,
  listed_modules text,
  listed_providers text,
  extraction_due_at timestamptz,
  extraction_attempts integer not null,
  extraction_error text,
  constraint state_versions_creation unique (workspace_id, lock_epoch, serial, md5)
);
create unique index state_versions_position on state_versions (workspace_id, position);
-- Lists by status.
create index state_versions_status on state_versions (workspace_id, status, position);
-- The few versions that sealing a lock reads.
create index state_versions_open on state_versions (workspace_id, position)
  where status = 'pending' or intermediate;
create index state_versions_expiry on state_versions (expires_at) where status = 'pending';
create index state_versions_extraction on state_versions (extraction_due_at)
  where extraction_due_at is not null;
-- Soft-deleted versions, to be deleted permanently after some days.
create index state_versions_soft_deleted on state_versions (soft_deleted_at)
  where soft_deleted_at is not null;
-- Versions with contents, which retention reads from the oldest on. Includes the columns by which retention decides, so
-- that young versions are not fetched.
create index state_versions_contents on state_versions (workspace_id, position)
  include (id, created_at) where blob_key is not null;
-- Copies that share the blob of a version.
create index state_versions_copies on state_versions (blob_key)
  where rollback_version_id is not null;

-- Exact totals without counting. Every change of versions has locked the workspace's row, so these rows cause no
-- waiting. Triggers run once a statement, so that a batch costs as much as a single row.
create table state_version_counts (
  workspace_id text not null,
  status text not null,
  count integer not null,
  primary key (workspace_id, status)
) with (fillfactor = 50);

create function count_state_versions() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into state_version_counts as known
      select workspace_id, status, count(*) from added group by 1, 2 order by 1, 2
      on conflict (workspace_id, status) do update set count = known.count + excluded.count;
  elsif tg_op = 'UPDATE' then
    insert into state_version_counts as known
      select workspace_id, status, sum(change) from (
        select workspace_id, status, 1 as change from added
        union all select workspace_id, status, -1 from removed) changes
      group by 1, 2 having sum(change) <> 0 order by 1, 2
      on conflict (workspace_id, status) do update set count = known.count + excluded.count;
  else
    update state_version_counts known set count = known.count - gone.count
      from (select workspace_id, status, count(*) as count from removed group by 1, 2) gone
      where known.workspace_id = gone.workspace_id and known.status = gone.status;
    delete from state_version_counts known
      using (select distinct workspace_id from removed) gone
      where known.workspace_id = gone.workspace_id and known.count = 0;
  end if;
  return null;
end $$;
create trigger state_versions_added after insert on state_versions
  referencing new table as added
  for each statement execute function count_state_versions();
create trigger state_versions_changed after update on state_versions
  referencing old table as removed new table as added
  for each statement execute function count_state_versions();
create trigger state_versions_removed after delete on state_versions
  referencing old table as removed
  for each statement execute function count_state_versions();

-- Keyed digests of a version's instances and outputs, to compare versions without their states.
create table state_version_digests (
  state_version_id text primary key references state_versions (id) on delete cascade,
  key_id text not null,
  -- The digest of each instance, by its address.
  resources jsonb not null,
  -- [digest, sensitive] of each output, by its name.
  outputs jsonb not null
);

create table state_version_outputs (
  id text primary key,
  state_version_id text not null references state_versions (id),
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
create unique index state_version_outputs_position
  on state_version_outputs (state_version_id, position);

-- The managed resources of each workspace's current version.
create table workspace_resources (
  workspace_id text not null references workspace_states (workspace_id),
  id text not null,
  address text not null,
  name text not null,
  module text not null,
  provider text not null,
  type text not null,
  name_index text,
  -- Of its content, to detect changes.
  digest text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  modified_by text not null,
  primary key (workspace_id, id)
);
-- Addresses may be longer than an index entry.
create index workspace_resources_address
  on workspace_resources (workspace_id, left(address, 500), id);

-- Whether an organization's plan bills by usage, as published by workspaces.
create table organization_billings (
  organization_id text primary key,
  usage_based boolean not null,
  revision bigint not null
);

create table blobs (
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
  due_at timestamptz not null,
  -- Contents that an organization owner deleted permanently: deleted at once, and named by a list in the store.
  permanent boolean not null default false
);
create index blob_deletions_due on blob_deletions (due_at);

-- One row: retention answers with a lower version are outdated.
create table retention_version (
  only_row boolean primary key default true check (only_row),
  version bigint not null
);
insert into retention_version (version) values (0);

-- One row for each kind of scan, shared by all replicas; seen, found and bytes count since the scan began.
create table scans (
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
insert into scans (name, due_at) values ('retention', now()), ('verification', now());

-- One row: which database this is, and when a replica last used it. A restored database continues with an earlier row.
create table database_heartbeats (
  only_row boolean primary key default true check (only_row),
  database text not null,
  beat_at timestamptz not null
);

-- Times in which rows of this database can have been lost.
create table database_interruptions (
  since timestamptz not null,
  until timestamptz primary key
);
