-- The rest of what a workspace's settings are, and what finds those whose destroy run is due.
alter table workspaces
  add column assessments_enabled boolean not null default false,
  add column auto_destroy_at timestamptz(3),
  add column auto_destroy_activity_duration text,
  add column vcs_repo jsonb;
create index workspaces_auto_destroy on workspaces (auto_destroy_at)
  where auto_destroy_at is not null;
