-- How many workspaces an organization may have; null for no limit.
alter table organizations add column workspace_limit integer;
-- How long runners let the phases of a run take. Statehouse stores the durations and passes them on.
alter table general_settings
  add column plan_timeout text not null default '2h',
  add column apply_timeout text not null default '24h';
