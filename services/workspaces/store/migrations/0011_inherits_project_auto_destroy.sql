-- Whether a workspace follows the auto-destroy settings of its project: those with settings of their own do not.
alter table workspaces add column inherits_project_auto_destroy boolean not null default true;
update workspaces set inherits_project_auto_destroy = false
where auto_destroy_at is not null or auto_destroy_activity_duration is not null;
