import { EntitySchema } from "@mikro-orm/core";
import { published } from "@statehouse/events";
import {
  type Database,
  type EntityManager,
  loadBoth,
  queryIn,
  recordsOf,
  selectRows,
  selectWhere,
} from "@statehouse/postgres";
import { bigint, primaryKey, selectList, text, timestamptz } from "@statehouse/postgres/columns";
import { newRow } from "@statehouse/postgres/new-row";
import {
  RunTokenCreatedSchema,
  RunTokenDeletedSchema,
  RunTokenRenewedSchema,
} from "@statehouse/proto/statehouse/access/v1/events";
import { tokenNotFound } from "../errors-domain.ts";
import type { OrganizationId, RunId, RunTokenId, WorkspaceId } from "../ids-domain.ts";
import { Run, RunToken } from "./domain.ts";

const runColumns = {
  id: primaryKey,
  workspaceId: text,
  organizationId: text,
  runner: text,
  expiredAt: timestamptz,
};

const runEntity = new EntitySchema({ class: Run, tableName: "runs", properties: runColumns });

const entity = new EntitySchema({
  class: RunToken,
  tableName: "run_tokens",
  properties: {
    id: primaryKey,
    runId: text,
    hash: text,
    revision: bigint,
    expiredAt: timestamptz,
  },
});

/** The run that a token authenticates, as a principal. */
interface AuthenticatedRun {
  tokenId: RunTokenId;
  type: "run";
  id: RunId;
  versions: string;
}

/**
 * The version vector of a run. The workspace of a run never changes, so the vector is constant while the run exists.
 */
const versions = `'r:' || r.workspace_id`;

const selectAuthenticated = `select t.id as "tokenId", 'run' as type, r.id, ${versions} as versions
  from run_tokens t join runs r on r.id = t.run_id`;

/** Selects the run that a token authenticates. It is used for every request of a run, so it is one statement. */
export const authenticateRun = `
  -- index: run_tokens_hash_key, runs_pkey
  ${selectAuthenticated}
  where t.hash = $1 and t.expired_at > $2`;

/** Selects the run that the token with this id authenticates. */
export const authenticateRunTokenId = `
  -- index: run_tokens_pkey, runs_pkey
  ${selectAuthenticated}
  where t.id = $1 and t.expired_at > $2`;

/**
 * Selects the workspace and organization of run $1, unless its last token has expired at $2. A deleted token counts
 * until its expiry.
 */
export const bindingOfRun = `-- index: runs_pkey
  select r.workspace_id as "workspaceId", r.organization_id as "organizationId",
    ${versions} as versions
  from runs r where r.id = $1 and r.expired_at > $2`;

interface RunBinding {
  workspaceId: WorkspaceId;
  organizationId: OrganizationId;
  versions: string;
}

const reads = (database: Database) => ({
  async authenticate(hash: string, at: Date): Promise<AuthenticatedRun | undefined> {
    const [row] = await database.query<AuthenticatedRun>(authenticateRun, [hash, at]);
    return row;
  },

  /** Returns the run of the valid token with this id, like `authenticate`. */
  async findByTokenId(id: RunTokenId, at: Date): Promise<AuthenticatedRun | undefined> {
    const [row] = await database.query<AuthenticatedRun>(authenticateRunTokenId, [id, at]);
    return row;
  },

  async findBinding(runId: string, at: Date): Promise<RunBinding | undefined> {
    const [row] = await database.query<RunBinding>(bindingOfRun, [runId, at]);
    return row;
  },

  /** Returns the runs among `runIds` for which tokens were created. */
  async listBound(runIds: readonly RunId[]): Promise<RunId[]> {
    const rows = await database.query<{ id: RunId }>(
      // index: runs_pkey
      "select id from runs where id = any($1)",
      [runIds],
    );
    return rows.map(({ id }) => id);
  },

  /** Returns the workspaces among `workspaceIds` for whose runs tokens were created. */
  async listWorkspacesWithRuns(workspaceIds: readonly WorkspaceId[]): Promise<WorkspaceId[]> {
    const rows = await database.query<{ id: WorkspaceId }>(
      // index: runs_workspace
      "select distinct workspace_id as id from runs where workspace_id = any($1)",
      [workspaceIds],
    );
    return rows.map(({ id }) => id);
  },
});

const EXPIRED_AT_ONCE = 50;

/** Reads and writes runs and their tokens, inside a transaction. A run is locked before its tokens. */
const rows = (em: EntityManager) => ({
  ...recordsOf(em, entity, tokenNotFound),

  /**
   * Inserts `run` or, if a token was created for the run before, extends the run's expiry. Locks and returns the stored
   * run, whose workspace, organization and runner are those of its first token.
   */
  async bind(run: Run): Promise<Run> {
    const [row] = await queryIn<Run>(
      em,
      // index: runs_pkey
      `insert into runs as r (id, workspace_id, organization_id, runner, expired_at)
       values ($1, $2, $3, $4, $5)
       on conflict (id) do update set expired_at = greatest(r.expired_at, excluded.expired_at)
       returning ${selectList("r", runColumns)}`,
      [run.id, run.workspaceId, run.organizationId, run.runner, run.expiredAt],
    );
    return row ? newRow(Run, row) : run;
  },

  /** Returns a token of a run that `runner` executes, even if the token has expired. Locks the token and its run. */
  async findForUpdate(
    id: RunTokenId,
    runner: string,
  ): Promise<{ token: RunToken; run: Run } | undefined> {
    // index: run_tokens_pkey, runs_pkey
    const condition = "id = (select t.run_id from run_tokens t where t.id = $1) and runner = $2";
    const [[run], [token]] = await loadBoth(
      em,
      selectWhere(em, runEntity, condition, [id, runner], { lock: "update" }),
      selectRows(em, entity, { id }, { lock: "update" }),
    );
    return run && token && { token, run };
  },

  /** Deletes runs and their tokens. */
  async removeRuns(ids: readonly RunId[]): Promise<void> {
    // index: runs_pkey
    await queryIn(em, "delete from runs where id = any($1)", [ids]);
  },

  /** Deletes all runs of the workspaces, and the tokens of the runs. */
  async removeRunsOfWorkspaces(workspaceIds: readonly WorkspaceId[]): Promise<void> {
    // index: runs_workspace
    await queryIn(em, "delete from runs where workspace_id = any($1)", [workspaceIds]);
  },

  /**
   * Deletes runs whose last token has expired. The number of deleted runs is limited, so that the calling request does
   * not become slow.
   */
  async removeExpiredRuns(at: Date): Promise<void> {
    await queryIn(
      em,
      // index: runs_expired_at
      `delete from runs where id in (
         select id from runs where expired_at <= $1 order by expired_at limit ${EXPIRED_AT_ONCE}
         for update skip locked)`,
      [at],
    );
  },
});

export const runTokenCreated = (
  { id, runId, revision }: RunToken,
  { workspaceId, organizationId, runner }: Run,
) =>
  published(RunTokenCreatedSchema, id, {
    runTokenId: id,
    runId,
    workspaceId,
    organizationId,
    runner,
    revision,
  });

export const runTokenRenewed = ({ id, runId, revision }: RunToken, { organizationId }: Run) =>
  published(RunTokenRenewedSchema, id, { runTokenId: id, runId, organizationId, revision });

export const runTokenDeleted = (
  { id, runId }: RunToken,
  { organizationId }: Run,
  revision: bigint,
) => published(RunTokenDeletedSchema, id, { runTokenId: id, runId, organizationId, revision });

export const runTokens = {
  entities: [runEntity, entity],
  reads,
  rows,
  // Tokens are deleted with their run.
  deletedWithOrganization: "runs",
  // Run tokens are not listed, because no event reports that one expires.
  listed: null,
};
