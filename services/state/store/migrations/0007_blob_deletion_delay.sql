-- Contents that an organization owner deleted permanently: deleted at once, and named by a list in the store.
alter table blob_deletions add column permanent boolean not null default false;

-- One row: which database this is, and when a replica last used it. A restored database continues with an earlier row.
create table database_heartbeats (
  only_row boolean primary key default true check (only_row),
  database text not null,
  beat_at timestamptz not null
);
-- Times in which rows of this database can have been lost.
create table database_interruptions (
  since timestamptz not null,
  until timestamptz primary key
);
