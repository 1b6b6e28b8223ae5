alter table state_version
  add column rollback_version_id text,
  add column soft_deleted_at timestamptz;
-- Soft-deleted versions, to be deleted permanently after some days.
create index state_version_soft_deleted on state_version (soft_deleted_at)
  where soft_deleted_at is not null;
