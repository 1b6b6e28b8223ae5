import { eventMigrations } from "@statehouse/events";
import type { SqlMigration } from "@statehouse/postgres";

const init: SqlMigration = {
  name: "0001_init",
  up: `
    create table users (
      id text primary key,
      username text not null,
      email text not null,
      administrator boolean not null,
      suspended boolean not null,
      version bigint not null,
      created_at timestamptz(3) not null
    );
    create unique index users_username_key on users (lower(username));
    create unique index users_email_key on users (lower(email));

    -- Room on each page, so that last_used_at is written without touching an index.
    create table user_tokens (
      id text primary key,
      user_id text not null references users,
      hash text not null,
      description text not null,
      revision bigint not null,
      created_by_user_id text references users,
      created_at timestamptz(3) not null,
      expired_at timestamptz(3) not null,
      last_used_at timestamptz(3)
    ) with (fillfactor = 80);
    create unique index user_tokens_hash_key on user_tokens (hash);
    create index user_tokens_by_user on user_tokens (user_id, created_at, id);

    create table organizations (
      id text primary key,
      version bigint not null,
      provisioned_version bigint not null,
      created_at timestamptz(3) not null
    );

    create table teams (
      id text primary key,
      organization_id text not null references organizations,
      name text not null,
      visibility text not null,
      organization_access text[] not null,
      owners boolean not null,
      created_at timestamptz(3) not null,
      unique (id, organization_id)
    );
    create unique index teams_name_key on teams (organization_id, name);
    create unique index teams_owners_key on teams (organization_id) where owners;

    create table team_members (
      team_id text not null,
      user_id text not null references users,
      organization_id text not null,
      created_at timestamptz(3) not null,
      primary key (team_id, user_id),
      foreign key (team_id, organization_id) references teams (id, organization_id)
    );
    create index team_members_by_user on team_members (user_id, organization_id, team_id);

    create table team_projects (
      id text primary key,
      team_id text not null,
      project_id text not null,
      organization_id text not null,
      access text not null,
      created_at timestamptz(3) not null,
      unique (team_id, project_id),
      foreign key (team_id, organization_id) references teams (id, organization_id)
    );
  `,
};

const organizationTombstones: SqlMigration = {
  name: "0002_organization_tombstones",
  up: `
    alter table organizations add column dropped_at timestamptz(3);
    create index team_members_organization on team_members (organization_id);
    create index team_projects_organization on team_projects (organization_id);
  `,
};

const runTokens: SqlMigration = {
  name: "0003_run_tokens",
  up: `
    -- Runs that have tokens, and what binds them: gone when the run has ended, the workspace is deleted or
    -- the last token has expired.
    create table runs (
      id text primary key,
      workspace_id text not null,
      organization_id text not null,
      runner text not null,
      expired_at timestamptz(3) not null
    );
    create index runs_organization on runs (organization_id);
    create index runs_workspace on runs (workspace_id);
    create index runs_expired_at on runs (expired_at);

    create table run_tokens (
      id text primary key,
      run_id text not null references runs on delete cascade,
      hash text not null,
      revision bigint not null,
      expired_at timestamptz(3) not null
    );
    create unique index run_tokens_hash_key on run_tokens (hash);
    create index run_tokens_run on run_tokens (run_id);
  `,
};

const teamAccess: SqlMigration = {
  name: "0004_team_access",
  up: `
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
  `,
};

// Needs downtime: the previous release reads the two tables that this one replaces.
const teamAccesses: SqlMigration = {
  name: "0005_team_accesses",
  up: `
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
  `,
};

/** The schema of access, in order. */
export const migrations: readonly SqlMigration[] = [
  ...eventMigrations,
  init,
  organizationTombstones,
  runTokens,
  teamAccess,
  teamAccesses,
];
