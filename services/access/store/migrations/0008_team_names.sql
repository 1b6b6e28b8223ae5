-- Names of teams that differ only by case are one name in their organization.
do $$
declare
  clashes text;
begin
  select string_agg(names, '; ') into clashes
  from (
    select string_agg(id || ' ' || name, ', ' order by name) || ' in ' || organization_id as names
    from teams group by organization_id, lower(name) having count(*) > 1
  ) clashing;
  if clashes is not null then
    raise exception 'Names of teams differ only by case: %. Rename all but one of each with the previous release (PATCH /api/v2/teams/ID, attribute name), then migrate again.', clashes;
  end if;
end
$$;

create unique index teams_lower_name_key on teams (organization_id, lower(name));
