-- The days after which state versions are deleted, if they differ from those of the whole policy.
alter table data_retention_policies
  add column state_versions_delete_after_n_days integer,
  drop constraint data_retention_policies_days,
  add constraint data_retention_policies_days check (
    (kind = 'delete-older')
      = (num_nonnulls(delete_older_than_n_days, state_versions_delete_after_n_days) > 0)
  );
