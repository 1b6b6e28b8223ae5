-- A search by name that was counted before is not counted again while the stamps of its organization are unchanged. The
-- stamp of a project changes with each change of the names of its workspaces. No two stamps but 0 are equal.
create sequence workspace_count_stamps;
alter table workspace_counts add column stamp bigint not null default 0;

create or replace function count_workspaces() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    update workspace_counts set count = count - 1, stamp = nextval('workspace_count_stamps')
      where organization_id = old.organization_id and project_id = old.project_id;
  end if;
  if tg_op <> 'DELETE' then
    insert into workspace_counts
      values (new.organization_id, new.project_id, 1, nextval('workspace_count_stamps'))
      on conflict (organization_id, project_id) do update
        set count = workspace_counts.count + 1, stamp = nextval('workspace_count_stamps');
  end if;
  return null;
end $$;

create function stamp_renamed_workspace() returns trigger language plpgsql as $$
begin
  update workspace_counts set stamp = nextval('workspace_count_stamps')
    where organization_id = new.organization_id and project_id = new.project_id;
  return null;
end $$;
create constraint trigger workspaces_renamed after update of name on workspaces
  deferrable initially deferred for each row when (old.name <> new.name)
  execute function stamp_renamed_workspace();
