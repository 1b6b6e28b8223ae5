-- Includes the columns by which retention decides, so that young versions are not fetched.
drop index state_version_contents;
create index state_version_contents on state_version (workspace_id, position)
  include (id, created_at) where blob_key is not null;

-- Exact totals without counting. Every change of versions has locked the workspace's row, so these rows cause no
-- waiting. Triggers run once a statement, so that a batch costs as much as a single row.
create table state_version_count (
  workspace_id text not null,
  status text not null,
  count integer not null,
  primary key (workspace_id, status)
) with (fillfactor = 50);
insert into state_version_count
  select workspace_id, status, count(*) from state_version group by 1, 2;

create function count_state_versions() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into state_version_count as known
      select workspace_id, status, count(*) from added group by 1, 2 order by 1, 2
      on conflict (workspace_id, status) do update set count = known.count + excluded.count;
  elsif tg_op = 'UPDATE' then
    insert into state_version_count as known
      select workspace_id, status, sum(change) from (
        select workspace_id, status, 1 as change from added
        union all select workspace_id, status, -1 from removed) changes
      group by 1, 2 having sum(change) <> 0 order by 1, 2
      on conflict (workspace_id, status) do update set count = known.count + excluded.count;
  else
    update state_version_count known set count = known.count - gone.count
      from (select workspace_id, status, count(*) as count from removed group by 1, 2) gone
      where known.workspace_id = gone.workspace_id and known.status = gone.status;
    delete from state_version_count known
      using (select distinct workspace_id from removed) gone
      where known.workspace_id = gone.workspace_id and known.count = 0;
  end if;
  return null;
end $$;
create trigger state_version_added after insert on state_version
  referencing new table as added
  for each statement execute function count_state_versions();
create trigger state_version_changed after update on state_version
  referencing old table as removed new table as added
  for each statement execute function count_state_versions();
create trigger state_version_removed after delete on state_version
  referencing old table as removed
  for each statement execute function count_state_versions();
