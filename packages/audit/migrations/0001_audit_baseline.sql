-- Records of the audit trail, partitioned by month in UTC. The sealer sets batch and position.
create table audit_records (
  recorded_at timestamptz not null default clock_timestamp(),
  id text not null,
  -- '_' for what belongs to no organization.
  organization text not null,
  actor_type text not null,
  -- Empty if the caller is unknown.
  actor_id text not null,
  token_id text,
  address text,
  address_salt bytea,
  -- sha256 of the salt and the address. It remains if address and salt are removed.
  address_digest bytea,
  action text not null,
  resource_type text not null,
  resource_id text,
  changed_attributes text[] not null,
  -- succeeded, refused or failed.
  outcome text not null,
  code text,
  attempts integer not null default 1,
  request_id text,
  transaction xid8 not null default pg_current_xact_id(),
  batch bigint,
  position integer,
  primary key (organization, recorded_at, id)
) partition by range (recorded_at);

create index audit_records_unsealed on audit_records (transaction, recorded_at, id)
  where batch is null;

create index audit_records_by_batch on audit_records (organization, batch, position)
  where batch is not null;

-- A record for whose month no partition exists is stored here until there is one.
create table audit_records_default partition of audit_records default;

-- Refused attempts of the current minutes. The sealer moves them to audit_records when their minute has ended.
create table audit_attempts (
  minute timestamptz not null,
  organization text not null,
  actor_type text not null,
  actor_id text not null,
  -- Empty if there is none, like address.
  token_id text not null,
  address text not null,
  action text not null,
  code text not null,
  attempts integer not null,
  resource_type text not null,
  -- Resource and request of the last attempt.
  resource_id text,
  request_id text,
  primary key (minute, organization, actor_type, actor_id, token_id, address, action, code)
);

create table audit_batches (
  organization text not null,
  number bigint not null,
  sealed_at timestamptz not null,
  first_recorded_at timestamptz not null,
  last_recorded_at timestamptz not null,
  records integer not null,
  -- The digests of the records in the order of their positions, 32 bytes each, so that an edited or deleted record is
  -- named.
  record_digests bytea not null,
  previous_hash bytea not null,
  hash bytea not null,
  signature bytea not null,
  key_id text not null,
  primary key (organization, number)
);

-- The user of a running service may not create or drop tables, so the functions run with the rights of their owner.

-- Creates the partitions of the month of at and of the two following months.
create function create_audit_partitions(at timestamptz) returns void
language plpgsql security definer
set search_path from current set timezone = 'UTC' set lock_timeout = '2s'
as $$
declare
  beginning timestamptz;
  ending timestamptz;
  name text;
begin
  perform pg_advisory_xact_lock(hashtext('audit partitions'));
  for ahead in 0..2 loop
    beginning := date_trunc('month', at) + make_interval(months => ahead);
    ending := beginning + interval '1 month';
    name := 'audit_records_' || to_char(beginning, 'YYYY_MM');
    continue when to_regclass(name) is not null;
    execute format('create table %I (like audit_records including defaults)', name);
    if exists (select from audit_records_default
        where recorded_at >= beginning and recorded_at < ending) then
      lock table audit_records_default in access exclusive mode;
      execute format(
        'with moved as (delete from audit_records_default
           where recorded_at >= $1 and recorded_at < $2 returning *)
         insert into %I select * from moved', name) using beginning, ending;
    end if;
    -- Attaching, unlike creating a partition, does not wait for transactions that write records.
    execute format('alter table audit_records attach partition %I for values from (%L) to (%L)',
      name, beginning, ending);
  end loop;
end
$$;

-- Drops the partitions whose records were all recorded and sealed before `before`, and returns their names. Of the
-- batches of the dropped records only the last one of each organization remains: its hash is the anchor of the chain.
-- The time of sealing counts too, because the verification decides by it which batches may be missing.
create function drop_audit_partitions(before timestamptz) returns setof text
language plpgsql security definer
set search_path from current set timezone = 'UTC' set lock_timeout = '2s'
as $$
declare
  oldest_kept timestamptz;
  ending timestamptz;
  name text;
  unsealed boolean;
begin
  perform pg_advisory_xact_lock(hashtext('audit partitions'));
  for name in select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'audit_records'::regclass and c.relname ~ '^audit_records_\d{4}_\d\d$'
    order by c.relname
  loop
    ending := to_timestamp(right(name, 7), 'YYYY_MM') + interval '1 month';
    exit when ending > least(before, clock_timestamp() - interval '1 day');
    execute format('select exists (select from %I where batch is null)', name) into unsealed;
    exit when unsealed;
    exit when exists (
      select from audit_batches where last_recorded_at < ending and sealed_at >= before
    );
    execute format('drop table %I', name);
    oldest_kept := ending;
    return next name;
  end loop;
  delete from audit_batches b
  using (
    select organization,
      coalesce(min(number) filter (where last_recorded_at >= oldest_kept), max(number) + 1) - 1
        as anchor
    from audit_batches group by organization
  ) kept
  where oldest_kept is not null and b.organization = kept.organization and b.number < kept.anchor;
end
$$;

revoke execute on function create_audit_partitions(timestamptz) from public;
revoke execute on function drop_audit_partitions(timestamptz) from public;

select create_audit_partitions(clock_timestamp());
