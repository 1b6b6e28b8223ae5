alter table organizations add column dropped_at timestamptz(3);
create index team_members_organization on team_members (organization_id);
create index team_projects_organization on team_projects (organization_id);
