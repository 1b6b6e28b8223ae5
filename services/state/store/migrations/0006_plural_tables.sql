-- Needs downtime: earlier releases use the old names.
alter table workspace_state rename to workspace_states;
alter table workspace_states rename column collected_at to purged_at;
alter table state_version rename to state_versions;
alter table state_version_output rename to state_version_outputs;
alter table state_version_count rename to state_version_counts;
alter table workspace_resource rename to workspace_resources;
alter table organization_billing rename to organization_billings;
alter table blob rename to blobs;
alter table pass rename to scans;

alter index workspace_state_uncollected rename to workspace_state_unpurged;
alter index state_version_unsettled rename to state_version_open;

-- Constraints, indexes and triggers begin with the name of their table.
do $$
declare
  singular text;
  plural text;
  item record;
begin
  foreach plural in array array['workspace_states', 'state_versions', 'state_version_outputs',
    'state_version_counts', 'workspace_resources', 'organization_billings', 'blobs', 'scans']
  loop
    singular := case plural when 'scans' then 'pass' else rtrim(plural, 's') end;
    for item in select conname as name from pg_constraint
      where conrelid = plural::regclass and starts_with(conname, singular || '_')
    loop
      execute format('alter table %I rename constraint %I to %I', plural, item.name,
        plural || substr(item.name, length(singular) + 1));
    end loop;
    for item in select i.relname as name from pg_index join pg_class i on i.oid = indexrelid
      where indrelid = plural::regclass and starts_with(i.relname, singular || '_')
    loop
      execute format('alter index %I rename to %I', item.name,
        plural || substr(item.name, length(singular) + 1));
    end loop;
    for item in select tgname as name from pg_trigger
      where tgrelid = plural::regclass and not tgisinternal and starts_with(tgname, singular || '_')
    loop
      execute format('alter trigger %I on %I rename to %I', item.name, plural,
        plural || substr(item.name, length(singular) + 1));
    end loop;
  end loop;
end $$;

create or replace function count_state_versions() returns trigger language plpgsql as $$
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
