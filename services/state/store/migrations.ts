import { outboxMigration, parkedEventsMigration } from "@statehouse/events";
import type { SqlMigration } from "@statehouse/postgres";
import { retention } from "./migrations/0004-retention.ts";
import { stateVersionCounts } from "./migrations/0005-state-version-counts.ts";

const init: SqlMigration = {
  name: "0001_init",
  up: `
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
    -- The collector's work.
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
    -- What sealing a lock has to look at: few.
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
      -- JSON as text, not jsonb: nothing of a value is respelled.
      detailed_type text not null,
      -- One of the two: in clear, or sealed because it is sensitive.
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

    -- Keys whose last reference is gone; the only place from which bytes are deleted.
    create table blob_deletions (
      key text primary key,
      due_at timestamptz not null
    );
    create index blob_deletions_due on blob_deletions (due_at);
  `,
};

const backingData: SqlMigration = {
  name: "0002_backing_data",
  up: `
    alter table state_version
      add column rollback_version_id text,
      add column soft_deleted_at timestamptz;
    -- What is to be deleted for good after its days.
    create index state_version_soft_deleted on state_version (soft_deleted_at)
      where soft_deleted_at is not null;
  `,
};

const workspaceResources: SqlMigration = {
  name: "0003_workspace_resources",
  up: `
    alter table state_version add column billable_resource_count integer;

    -- What the current version of each workspace manages.
    create table workspace_resource (
      workspace_id text not null references workspace_state (workspace_id),
      id text not null,
      address text not null,
      name text not null,
      module text not null,
      provider text not null,
      type text not null,
      name_index text,
      -- Of its content, to see whether it changed.
      digest text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      modified_by text not null,
      primary key (workspace_id, id)
    );
    -- Addresses may be longer than an index can hold.
    create index workspace_resource_address
      on workspace_resource (workspace_id, left(address, 500), id);

    -- Whether an organization's plan bills by usage, where workspaces has said so.
    create table organization_billing (
      organization_id text primary key,
      usage_based boolean not null,
      revision bigint not null
    );
  `,
};

/** The schema of state's database. */
export const migrations: readonly SqlMigration[] = [
  outboxMigration,
  parkedEventsMigration,
  init,
  backingData,
  workspaceResources,
  retention,
  stateVersionCounts,
];
