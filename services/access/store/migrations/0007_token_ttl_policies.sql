create table token_ttl_policies (
  organization_id text not null references organizations,
  token_type text not null,
  max_ttl_ms bigint not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (organization_id, token_type)
);
