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

-- The fill factor leaves room on each page, so that last_used_at is written without touching an index.
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
