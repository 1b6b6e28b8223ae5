alter table organizations add column max_ttl_enabled boolean not null default false;
