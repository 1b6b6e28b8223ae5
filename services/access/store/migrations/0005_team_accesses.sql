-- Needs downtime: the previous release reads the two tables that this one replaces.
create table team_accesses (
  id text primary key,
  team_id text not null,
  target_type text not null,
  target_id text not null,
  organization_id text not null,
  access text not null,
  permissions jsonb not null,
  created_at timestamptz(3) not null,
  unique (team_id, target_id),
  foreign key (team_id, organization_id) references teams (id, organization_id)
);
insert into team_accesses
  select id, team_id, 'project', project_id, organization_id, access, permissions, created_at
  from team_projects;
-- A permission has one name, whatever the type of the target.
insert into team_accesses
  select id, team_id, 'workspace', workspace_id, organization_id, access, (
    select coalesce(jsonb_object_agg(
      'workspace-access.' || case key when 'workspace-locking' then 'locking' else key end, value), '{}')
    from jsonb_each(permissions)
  ), created_at
  from team_workspaces;
create index team_accesses_organization on team_accesses (organization_id);
create index team_accesses_by_target on team_accesses (target_id, created_at, id);
drop table team_projects;
drop table team_workspaces;
