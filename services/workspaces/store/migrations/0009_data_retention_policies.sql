-- How long backing data is kept: of a workspace, of an organization, or, with neither, of the site.
create table data_retention_policies (
  id text primary key,
  organization_id text references organizations,
  workspace_id text references workspaces on delete cascade,
  kind text not null check (kind in ('delete-older', 'dont-delete')),
  delete_older_than_n_days integer,
  revision bigint not null,
  constraint data_retention_policies_one_target check (
    num_nonnulls(organization_id, workspace_id) <= 1
  ),
  constraint data_retention_policies_days check (
    (kind = 'delete-older') = (delete_older_than_n_days is not null)
  )
);
create unique index data_retention_policies_organization
  on data_retention_policies (organization_id);
create unique index data_retention_policies_workspace
  on data_retention_policies (workspace_id);
create unique index data_retention_policies_site on data_retention_policies ((true))
  where organization_id is null and workspace_id is null;
