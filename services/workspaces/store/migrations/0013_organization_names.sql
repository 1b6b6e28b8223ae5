-- Names of organizations that differ only by case are one name.
do $$
declare
  clashes text;
begin
  select string_agg(names, '; ') into clashes
  from (
    select string_agg(name, ', ' order by name) as names from organizations
    group by lower(name) having count(*) > 1
  ) clashing;
  if clashes is not null then
    raise exception 'Names of organizations differ only by case: %. Rename all but one of each with the previous release (PATCH /api/v2/organizations/NAME, attribute name), then migrate again.', clashes;
  end if;
end
$$;

create unique index organizations_lower_name_key on organizations (lower(name));
