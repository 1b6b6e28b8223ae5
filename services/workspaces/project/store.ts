import { EntitySchema } from "@mikro-orm/core";
import { listed, published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  existsIn,
  type Page,
  type PageInput,
  pageWithTotal,
  type RowWithTotal,
  recordsOf,
  withTotal,
} from "@statehouse/postgres";
import { bigint, optional, primaryKey, text, timestamptz } from "@statehouse/postgres/columns";
import {
  ProjectCreatedSchema,
  ProjectDeletedSchema,
  ProjectUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { organizationIsActive } from "../active-organization-store.ts";
import { nameTaken } from "../errors-domain.ts";
import type { OrganizationId, ProjectId } from "../ids-domain.ts";
import { containing, Parameters } from "../parameters-store.ts";
import { type ReadScope, readableProjects } from "../read-scope-store.ts";
import type { TagFilter } from "../tag-binding/domain.ts";
import { Project, type ProjectView, projectNotFound } from "./domain.ts";

const entity = new EntitySchema({
  class: Project,
  tableName: "projects",
  properties: {
    id: primaryKey,
    organizationId: text,
    name: text,
    description: optional(text),
    defaultExecutionMode: optional(text),
    defaultAgentPoolId: optional(text),
    autoDestroyActivityDuration: optional(text),
    revision: bigint,
    createdAt: timestamptz,
    updatedAt: timestamptz,
  },
});

/** SQL for the execution mode that workspaces of project `p` in organization `o` inherit. */
export const inheritedMode = "coalesce(p.default_execution_mode, o.default_execution_mode)";
/** SQL for the agent pool that workspaces of project `p` inherit together with the execution mode. */
export const inheritedPool = `case when p.default_execution_mode is null
  then o.default_agent_pool_id else p.default_agent_pool_id end`;

const composeView = (projects: string) => `
  select p.id, p.organization_id as "organizationId", o.name as "organizationName", p.name,
    p.description, p.created_at as "createdAt", p.id = o.default_project_id as "isDefault",
    ${inheritedMode} as "defaultExecutionMode",
    p.default_execution_mode is not null as "overwritesDefaultExecutionMode",
    ${inheritedPool} as "defaultAgentPoolId",
    p.auto_destroy_activity_duration as "autoDestroyActivityDuration",
    -- index: workspace_counts_pkey
    coalesce((select c.count from workspace_counts c
      where c.organization_id = p.organization_id and c.project_id = p.id), 0) as "workspaceCount"
  from ${projects} p join organizations o on o.id = p.organization_id`;

const view = composeView("projects");
const changedView = composeView("changed");

export interface ProjectSearch {
  organizationName: string;
  /** Part of the project's name; empty matches all. */
  query: string;
  /** A project must have one of these names, ignoring case; an empty list matches all projects. */
  names: readonly string[];
  /** A project must match all of these filters. */
  tagged: readonly TagFilter[];
  descending: boolean;
  page: PageInput;
}

const conditions = (search: ProjectSearch, readable: ReadScope, parameters: Parameters): string =>
  [
    readableProjects(readable, parameters),
    ...(search.query ? [`p.name ilike ${parameters.bind(containing(search.query))}`] : []),
    ...(search.names.length > 0
      ? [`lower(p.name) = any(${parameters.bind(search.names.map((name) => name.toLowerCase()))})`]
      : []),
    ...search.tagged.map((filter) => tagged(filter, parameters)),
  ].join(" and ");

const tagged = ({ key, value }: TagFilter, parameters: Parameters): string =>
  // index: tag_bindings_project_key
  `exists (select from tag_bindings b where b.project_id = p.id
    ${key ? `and b.key = ${parameters.bind(key)}` : ""}
    ${value ? `and b.value = ${parameters.bind(value)}` : ""})`;

/** Reads of projects of active organizations, outside any transaction. */
const reads = (database: Database) => ({
  async find(id: ProjectId): Promise<ProjectView | undefined> {
    const [row] = await this.batch([id]);
    return row;
  },

  async batch(ids: readonly string[]): Promise<ProjectView[]> {
    return database.query<ProjectView>(
      // index: projects_pkey
      `${view} where p.id = any($1) and o.status = 'active'`,
      [ids],
    );
  },

  /**
   * Returns a page of the matching projects that the caller may read, with the organization's id. Undefined if the
   * organization does not exist or the caller is not a member.
   */
  async page(
    search: ProjectSearch,
    readable: ReadScope,
  ): Promise<(Page<ProjectView> & { organizationId: OrganizationId }) | undefined> {
    const parameters = new Parameters();
    const organization = `o.name = ${parameters.bind(search.organizationName)}
      and o.status = 'active' and o.id = any(${parameters.bind(readable.memberOf)})`;
    const matches = conditions(search, readable, parameters);
    const order = search.descending ? "desc" : "asc";
    const rows = await database.query<RowWithTotal<ProjectView> & { within: OrganizationId }>(
      // index: organizations_name_key, projects_name_key
      withTotal({
        count: `select o.id as within,
            (select count(*) from projects p where p.organization_id = o.id and ${matches}) as total
          from organizations o where ${organization}`,
        select: `${view} where p.organization_id = counted.within and ${matches}
          order by p.name ${order}
          ${parameters.limits(search.page)}`,
        order: `listed.name ${order}`,
      }),
      parameters.values,
    );
    const [first] = rows;
    return first && { ...pageWithTotal<ProjectView>(rows), organizationId: first.within };
  },

  /** Returns the organization of a project. The organization can have any status. */
  async organizationOf(id: ProjectId): Promise<OrganizationId | undefined> {
    const [row] = await database.query<{ organizationId: OrganizationId }>(
      // index: projects_pkey
      `select organization_id as "organizationId" from projects where id = $1`,
      [id],
    );
    return row?.organizationId;
  },

  async listExisting(ids: readonly ProjectId[]): Promise<ProjectId[]> {
    const rows = await database.query<{ id: ProjectId }>(
      // index: projects_pkey
      "select id from projects where id = any($1)",
      [ids],
    );
    return rows.map(({ id }) => id);
  },
});

/** Reads and writes of projects inside a transaction. */
const rows = (em: EntityManager) => {
  const records = recordsOf(em, entity, projectNotFound);

  return {
    ...records,

    async hasWorkspaces(id: ProjectId): Promise<boolean> {
      // index: workspaces_project_name
      return existsIn(em, "select from workspaces where project_id = $1 limit 1", [id]);
    },

    async nameTaken(organizationId: OrganizationId, name: string): Promise<boolean> {
      return existsIn(
        em,
        // index: projects_name_key
        "select from projects where organization_id = $1 and name = $2",
        [organizationId, name],
      );
    },

    /** Writes the project and commits. Returns the values of its document. */
    commit: (project: Project): Promise<ProjectView> =>
      // index: projects_pkey
      records.commit<ProjectView>(project, changedView),
  };
};

type Named = Pick<Project, "id" | "organizationId" | "name" | "revision">;

const fieldsOf = ({ id, organizationId, name, revision }: Named) => ({
  projectId: id,
  organizationId,
  name,
  revision,
});

export const projectCreated = (project: Named) =>
  published(ProjectCreatedSchema, project.id, fieldsOf(project));

export const projectUpdated = (project: Project) =>
  published(ProjectUpdatedSchema, project.id, fieldsOf(project), project);

export const projectDeleted = ({ id, organizationId, revision }: Project) =>
  published(ProjectDeletedSchema, id, { projectId: id, organizationId, revision });

export const projects = {
  entity,
  reads,
  rows,
  uniqueErrors: { projects_name_key: nameTaken },
  deletedWithOrganization: "projects",
  listed: listed({
    schemas: [ProjectCreatedSchema],
    // index: projects_pkey, organizations_pkey
    from: "projects t",
    columns: `t.id, t.organization_id as "organizationId", t.name`,
    isListed: organizationIsActive("t.organization_id"),
    events: (project: Named) => [projectCreated(project)],
  }),
};
