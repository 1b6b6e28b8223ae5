-- Keyed digests of a version's instances and outputs, to compare versions without their states. Versions that were read
-- by an earlier release have none.
create table state_version_digests (
  state_version_id text primary key references state_versions (id) on delete cascade,
  key_id text not null,
  -- The digest of each instance, by its address.
  resources jsonb not null,
  -- [digest, sensitive] of each output, by its name.
  outputs jsonb not null
);
