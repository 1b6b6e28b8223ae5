import { openDatabase } from "@statehouse/postgres";
import { type Changing, createLogger, StartError } from "@statehouse/runtime";
import { migrations } from "../migrations.ts";
import { entities } from "../nouns.ts";

/** The names of a workspace and of its organization. */
export interface WorkspaceName {
  organizationId: string;
  organization: string;
  workspace: string;
}

/**
 * Opens the database of the workspaces service, so that a command of another service can read workspace names. Throws
 * `StartError`.
 */
export async function openWorkspaceNames(url: Changing<string>) {
  const logger = createLogger({ service: "workspaces", level: "silent" });
  const database = await openDatabase({
    contextName: "workspaces",
    url,
    pooling: "transaction",
    entities,
    migrations,
    logger,
  });
  await database.ready().catch(async (error: Error) => {
    await database[Symbol.asyncDispose]();
    throw new StartError(`The workspaces service's database cannot be used: ${error.message}`);
  });
  return {
    /** Returns the names of these workspaces; unknown ids are omitted. */
    async namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, WorkspaceName>> {
      const rows = await database.query<WorkspaceName & { id: string }>(
        // index: workspaces_pkey, organizations_pkey
        `select w.id, w.organization_id as "organizationId", o.name as organization,
           w.name as workspace
         from workspaces w join organizations o on o.id = w.organization_id where w.id = any($1)`,
        [ids],
      );
      return new Map(rows.map(({ id, ...name }) => [id, name]));
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
