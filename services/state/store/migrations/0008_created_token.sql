-- The token that sent the create request. Null for versions of an earlier release and for rollbacks.
alter table state_versions add column created_token_id text;
