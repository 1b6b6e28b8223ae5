-- Grows with every change of a policy or a plan, so that state knows answers that are too old.
alter table general_settings add column retention_version bigint not null default 0;
