-- Keys with which version control is reached; `sealed_value` opens only with SEALING_KEYS.
create table ssh_keys (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  sealed_value text not null,
  revision bigint not null,
  created_at timestamptz(3) not null
);
create index ssh_keys_organization on ssh_keys (organization_id, name, id);

alter table workspaces add column ssh_key_id text references ssh_keys on delete set null;
create index workspaces_ssh_key on workspaces (ssh_key_id) where ssh_key_id is not null;
