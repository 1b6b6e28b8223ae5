-- Keys of bindings that an organization has a plan for.
create table reserved_tag_keys (
  id text primary key,
  organization_id text not null references organizations,
  key text not null,
  disable_overrides boolean not null,
  revision bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create unique index reserved_tag_keys_key on reserved_tag_keys (organization_id, key);
