alter table state_version add column billable_resource_count integer;

-- The managed resources of each workspace's current version.
create table workspace_resource (
  workspace_id text not null references workspace_state (workspace_id),
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
create index workspace_resource_address
  on workspace_resource (workspace_id, left(address, 500), id);

-- Whether an organization's plan bills by usage, as published by workspaces.
create table organization_billing (
  organization_id text primary key,
  usage_based boolean not null,
  revision bigint not null
);
