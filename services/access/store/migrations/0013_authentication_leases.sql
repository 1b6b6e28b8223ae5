-- Leases of processes that keep principals of tokens in memory, and the changes that make such principals outdated.
-- A lease has acknowledged all transactions that are visible in its snapshot.
create table authentication_leases (
  holder text primary key,
  renewal bigint not null default 0,
  lease_ms integer not null,
  acknowledged pg_snapshot not null
);

-- Transactions that changed what authentication or grants return, until all leases have acknowledged them.
create table authentication_changes (
  xid xid8 primary key
);

-- The database servers on which no unknown lease can hold any more. A restored database is not among them.
create table authentication_databases (
  id text primary key
);
insert into authentication_databases values (concat_ws('-',
  extract(epoch from pg_postmaster_start_time()),
  (select system_identifier from pg_control_system()),
  (select oid from pg_database where datname = current_database()),
  'authentication_leases'::regclass::oid,
  left(pg_walfile_name(pg_current_wal_lsn()), 8)));

create function note_authentication_change() returns trigger language plpgsql as $$
begin
  insert into authentication_changes values (pg_current_xact_id()) on conflict do nothing;
  return null;
end
$$;

-- New users and tokens are unknown to every process, and refusals are not kept. The last use of a token changes nothing.
create trigger authentication_change after update or delete on users
  for each row execute function note_authentication_change();
create trigger authentication_change after delete on tokens
  for each row execute function note_authentication_change();
create trigger authentication_change_of_token after update on tokens for each row
  when ((old.type, old.slot, old.hash, old.user_id, old.team_id, old.organization_id, old.created_at, old.expired_at)
    is distinct from
    (new.type, new.slot, new.hash, new.user_id, new.team_id, new.organization_id, new.created_at, new.expired_at))
  execute function note_authentication_change();
create trigger authentication_change after insert or update or delete on organizations
  for each row execute function note_authentication_change();
create trigger authentication_change after insert or update or delete on organization_memberships
  for each row execute function note_authentication_change();
create trigger authentication_change after insert or update or delete on token_ttl_policies
  for each row execute function note_authentication_change();
create trigger authentication_change after insert or update or delete on teams
  for each row execute function note_authentication_change();
create trigger authentication_change after insert or update or delete on team_members
  for each row execute function note_authentication_change();
create trigger authentication_change after insert or update or delete on team_accesses
  for each row execute function note_authentication_change();
