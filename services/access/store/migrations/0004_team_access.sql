create table organization_memberships (
  id text primary key,
  organization_id text not null references organizations,
  user_id text not null references users,
  status text not null,
  created_at timestamptz(3) not null,
  unique (user_id, organization_id)
);
create index organization_memberships_by_organization
  on organization_memberships (organization_id, created_at, id);
insert into organization_memberships
  select 'ou-' || left(md5(random()::text || user_id || organization_id), 16),
    organization_id, user_id, 'active', min(created_at)
  from team_members group by organization_id, user_id;

alter table users add column placeholder boolean not null default false;
alter table teams
  add column sso_team_id text,
  add column allow_member_token_management boolean not null default true;
alter table organizations
  add column user_tokens_enabled boolean not null default true,
  add column settings_version bigint not null default 0;

alter table team_projects add column permissions jsonb not null default '{}';
create index team_projects_by_project on team_projects (project_id, created_at, id);
create table team_workspaces (
  id text primary key,
  team_id text not null,
  workspace_id text not null,
  organization_id text not null,
  access text not null,
  permissions jsonb not null,
  created_at timestamptz(3) not null,
  unique (team_id, workspace_id),
  foreign key (team_id, organization_id) references teams (id, organization_id)
);
create index team_workspaces_organization on team_workspaces (organization_id);
create index team_workspaces_by_workspace on team_workspaces (workspace_id, created_at, id);

alter table user_tokens rename to tokens;
alter table tokens rename created_by_user_id to created_by_id;
alter table tokens
  drop constraint user_tokens_created_by_user_id_fkey,
  alter column user_id drop not null,
  add column type text not null default 'user',
  add column team_id text references teams,
  add column organization_id text references organizations,
  add column slot text not null default 'described',
  add column created_by_type text;
update tokens set created_by_type = 'user' where created_by_id is not null;
alter table tokens alter column type drop default, alter column slot drop default;
alter index user_tokens_hash_key rename to tokens_hash_key;
alter index user_tokens_by_user rename to tokens_by_user;
create index tokens_by_organization on tokens (organization_id, type, created_at, id);
create unique index tokens_slot_key on tokens (organization_id, coalesce(team_id, ''), slot)
  where type <> 'user' and slot <> 'described';
create unique index tokens_description_key on tokens (team_id, description)
  where type = 'team' and slot = 'described';
