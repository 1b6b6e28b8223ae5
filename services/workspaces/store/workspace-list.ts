import type { Database } from "@statehouse/postgres";
import { offsetOf, type PageInput } from "@statehouse/postgres";
import type { OrganizationId, ProjectId } from "../domain/ids.ts";
import type { WorkspaceView } from "../domain/workspace-view.ts";
import { Parameters } from "./parameters.ts";
import { containing } from "./pattern.ts";
import { type Readable, readableWorkspaces } from "./readable.ts";
import { selectWorkspaces, toWorkspaceView, type WorkspaceRow } from "./workspace-view.ts";

export interface WorkspaceSearch {
  organizationName: string;
  /** Part of the name, in whatever case; empty: any. */
  name: string;
  /** Flat tags, all of them. */
  tags: readonly string[];
  /** Undefined: any. */
  projectId: ProjectId | undefined;
  page: PageInput;
}

/** On workspaces `w`; `organization` is what its column must equal. */
function conditions(
  search: WorkspaceSearch,
  readable: Readable,
  organization: string,
  parameters: Parameters,
): string {
  const all = [`w.organization_id = ${organization}`, readableWorkspaces(readable, parameters)];
  // index: workspaces_name_trigram
  if (search.name) all.push(`w.name ilike ${parameters.bind(containing(search.name))}`);
  // index: workspaces_project
  if (search.projectId) all.push(`w.project_id = ${parameters.bind(search.projectId)}`);
  const tags = [...new Set(search.tags)];
  if (tags.length > 0) {
    // index: tag_bindings_tagged
    all.push(`w.id in (
      select b.workspace_id from tag_bindings b
      where b.organization_id = ${organization} and b.workspace_id is not null
        and b.key = any(${parameters.bind(tags)}) and b.value = ''
      group by b.workspace_id having count(*) = ${parameters.bind(tags.length)})`);
  }
  return all.join(" and ");
}

/** A page of an organization's workspaces, in two statements. */
export const workspaceLists = (database: Database) => ({
  /** The organization, and how many of its workspaces are readable and sought; undefined: no such member's. */
  async count(
    search: WorkspaceSearch,
    readable: Readable,
  ): Promise<{ organizationId: OrganizationId; total: number } | undefined> {
    const parameters = new Parameters();
    const organization = `o.name = ${parameters.bind(search.organizationName)}
      and o.status = 'active' and o.id = any(${parameters.bind(readable.memberOf)})`;
    const sought = conditions(search, readable, "o.id", parameters);
    const [row] = await database.query<{ organizationId: OrganizationId; total: number }>(
      // index: organizations_name_key, workspaces_name_key
      `select o.id as "organizationId",
         (select count(*) from workspaces w where ${sought}) as total
       from organizations o where ${organization}`,
      parameters.values,
    );
    return row;
  },

  async page(
    search: WorkspaceSearch,
    readable: Readable,
    organizationId: OrganizationId,
  ): Promise<WorkspaceView[]> {
    const parameters = new Parameters();
    const sought = conditions(search, readable, parameters.bind(organizationId), parameters);
    const rows = await database.query<WorkspaceRow>(
      // index: workspaces_name_key. Names are unique here, so their order is stable.
      selectWorkspaces(`where ${sought} order by w.name
        limit ${parameters.bind(search.page.size)} offset ${parameters.bind(offsetOf(search.page))}`),
      parameters.values,
    );
    return rows.map(toWorkspaceView);
  },
});
