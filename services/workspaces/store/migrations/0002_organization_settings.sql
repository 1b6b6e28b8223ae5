-- Settings of organizations and of the installation, agent pools, and the deletion of organizations.
alter table organizations
  add column session_timeout integer,
  add column session_remember integer,
  add column owners_team_saml_role_id text,
  add column default_agent_pool_id text,
  drop constraint organizations_status_check,
  add constraint organizations_status_check
    check (status in ('provisioning', 'active', 'deleting'));

-- What is left of an organization: its id, which is never used again. The other columns are emptied
-- once nothing of it is left anywhere; until then its deleter's repeat is recognized by them.
create table organization_deletions (
  organization_id text primary key,
  name text,
  deleted_by_type text,
  deleted_by_id text,
  retry_at timestamptz(3),
  constraint organization_deletions_whole check (
    num_nonnulls(name, deleted_by_type, deleted_by_id, retry_at) in (0, 4)
  )
);
create index organization_deletions_unsettled on organization_deletions (retry_at)
  where retry_at is not null;
create index organization_deletions_name on organization_deletions (name)
  where retry_at is not null;

-- One row: what administrators decide for the whole installation.
create table general_settings (
  id boolean primary key default true check (id),
  default_remote_state_access boolean not null default false
);
insert into general_settings default values;

create table agent_pools (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  organization_scoped boolean not null,
  revision bigint not null,
  created_at timestamptz(3) not null
);
create unique index agent_pools_name_key on agent_pools (organization_id, name);

create table agent_pool_workspaces (
  agent_pool_id text not null references agent_pools on delete cascade,
  workspace_id text not null references workspaces on delete cascade,
  -- allowed or excluded
  relation text not null,
  primary key (agent_pool_id, workspace_id, relation)
);
create index agent_pool_workspaces_of_workspace on agent_pool_workspaces (workspace_id);

create table agent_pool_projects (
  agent_pool_id text not null references agent_pools on delete cascade,
  project_id text not null references projects on delete cascade,
  primary key (agent_pool_id, project_id)
);
create index agent_pool_projects_of_project on agent_pool_projects (project_id);

alter table organizations add constraint organizations_default_agent_pool
  foreign key (default_agent_pool_id) references agent_pools;
create index organizations_agent_pool on organizations (default_agent_pool_id)
  where default_agent_pool_id is not null;
-- The pool of its own default mode.
alter table projects add column default_agent_pool_id text references agent_pools;
create index projects_agent_pool on projects (default_agent_pool_id)
  where default_agent_pool_id is not null;
-- The pool of its own mode.
alter table workspaces add column agent_pool_id text references agent_pools;
create index workspaces_agent_pool on workspaces (agent_pool_id)
  where agent_pool_id is not null;
