alter table projects add column auto_destroy_activity_duration text;
-- The duration of the workspace's project, so that activity on the workspace sets its time without reading the project.
alter table workspaces add column inherited_activity_duration text;
