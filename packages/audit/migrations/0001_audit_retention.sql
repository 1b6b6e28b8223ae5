-- Drops the partitions whose records were all recorded and sealed before `before`, and returns their names. Of the
-- batches of the dropped records only the last one of each organization remains: its hash is the anchor of the chain.
-- The time of sealing counts too, because the verification decides by it which batches may be missing.
create or replace function drop_audit_partitions(before timestamptz) returns setof text
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
