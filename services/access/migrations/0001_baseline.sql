create table users (
  id text primary key,
  username text not null,
  email text not null,
  -- The address that a user has entered and has not yet proved to own (ADR 56).
  unconfirmed_email text,
  placeholder boolean not null default false,
  administrator boolean not null,
  suspended boolean not null,
  version bigint not null,
  created_at timestamptz(3) not null
);
create unique index users_username_key on users (lower(username));
create unique index users_email_key on users (lower(email));

create table organizations (
  id text primary key,
  version bigint not null,
  provisioned_version bigint not null,
  settings_version bigint not null default 0,
  user_tokens_enabled boolean not null default true,
  max_ttl_enabled boolean not null default false,
  created_at timestamptz(3) not null,
  dropped_at timestamptz(3)
);

create table organization_memberships (
  id text primary key,
  organization_id text not null references organizations,
  user_id text not null references users,
  status text not null,
  -- SHA-256 of the secret that only the invitation's mail contains.
  secret_hash text,
  created_at timestamptz(3) not null,
  unique (user_id, organization_id)
);
create index organization_memberships_by_organization
  on organization_memberships (organization_id, created_at, id);

create table teams (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  description text,
  visibility text not null,
  organization_access text[] not null,
  owners boolean not null,
  sso_team_id text,
  allow_member_token_management boolean not null default true,
  created_at timestamptz(3) not null,
  unique (id, organization_id)
);
create unique index teams_name_key on teams (organization_id, name);
-- Names of teams that differ only by case are one name in their organization.
create unique index teams_lower_name_key on teams (organization_id, lower(name));
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
create index team_members_organization on team_members (organization_id);

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
create index team_accesses_organization on team_accesses (organization_id);
create index team_accesses_by_target on team_accesses (target_id, created_at, id);

-- The fill factor leaves room on each page, so that last_used_at is written without touching an index.
create table tokens (
  id text primary key,
  type text not null,
  user_id text references users,
  team_id text references teams,
  organization_id text references organizations,
  slot text not null,
  hash text not null,
  description text not null,
  revision bigint not null,
  created_by_type text,
  created_by_id text,
  created_at timestamptz(3) not null,
  expired_at timestamptz(3) not null,
  last_used_at timestamptz(3)
) with (fillfactor = 80);
create unique index tokens_hash_key on tokens (hash);
create index tokens_by_user on tokens (user_id, created_at, id);
create index tokens_by_organization on tokens (organization_id, type, created_at, id);
create unique index tokens_slot_key on tokens (organization_id, coalesce(team_id, ''), slot)
  where type <> 'user' and slot <> 'described';
-- Tokens of one team may have equal descriptions if these are empty.
create unique index tokens_description_key on tokens (team_id, description)
  where type = 'team' and slot = 'described' and description <> '';

create table token_ttl_policies (
  organization_id text not null references organizations,
  token_type text not null,
  max_ttl_ms bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (organization_id, token_type)
);

-- Runs that have tokens, and the values to which the tokens are bound. A row is deleted when the run has ended, the
-- workspace is deleted or the last token has expired.
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
