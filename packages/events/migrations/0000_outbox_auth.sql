-- Null in rows that the previous release writes during an upgrade.
alter table outbox add column auth_type text, add column auth_id text;
