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
