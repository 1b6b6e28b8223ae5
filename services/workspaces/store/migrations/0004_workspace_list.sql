-- What the list of workspaces needs to be as fast among 100,000 as among 100.
-- Exact totals without counting. Kept at COMMIT, so that creations in one project wait for each other
-- no longer than a commit takes, and no transaction holds this row while it waits for another one.
create table workspace_counts (
  organization_id text not null references organizations on delete cascade,
  project_id text not null references projects on delete cascade,
  count integer not null,
  primary key (organization_id, project_id)
) with (fillfactor = 50);
insert into workspace_counts
  select organization_id, project_id, count(*) from workspaces group by 1, 2;

create function count_workspaces() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update workspace_counts set count = count - 1
      where organization_id = old.organization_id and project_id = old.project_id;
  end if;
  if tg_op <> 'DELETE' then
    insert into workspace_counts values (new.organization_id, new.project_id, 1)
      on conflict (organization_id, project_id)
      do update set count = workspace_counts.count + 1;
  end if;
  return null;
end $$;
create constraint trigger workspaces_counted after insert or delete on workspaces
  deferrable initially deferred for each row execute function count_workspaces();
create constraint trigger workspaces_counted_elsewhere
  after update of organization_id, project_id on workspaces
  deferrable initially deferred for each row
  when ((old.organization_id, old.project_id) <> (new.organization_id, new.project_id))
  execute function count_workspaces();

-- With what a page is taken from, so that what is skipped is not fetched.
create unique index workspaces_name_covering on workspaces (organization_id, name)
  include (id, project_id);
drop index workspaces_name_key;
alter index workspaces_name_covering rename to workspaces_name_key;
create index workspaces_project_name on workspaces (project_id, name) include (id);
drop index workspaces_project;
create index workspaces_latest_change
  on workspaces (organization_id, coalesce(latest_change_at, created_at), id);
-- Without a run counts as before any run, in both directions.
create index workspaces_current_run
  on workspaces (organization_id, coalesce(current_run_created_at, '-infinity'), id);
drop index workspaces_current_run_created_at;

create index tag_bindings_tagged_value on tag_bindings (organization_id, value)
  where workspace_id is not null;
create index tag_bindings_project_tagged on tag_bindings (organization_id, key, value)
  where project_id is not null;
