-- What lists of versions show, so that they do not read the whole contents of large states. Null in versions of at most
-- 100 resources, which are shown completely, and in versions that an earlier release extracted.
alter table state_versions
  add column listed_resources text,
  add column listed_modules text,
  add column listed_providers text,
  -- Number of all resources; null before extraction, and in versions that an earlier release extracted.
  add column resource_entries integer;
