import { type Database, type EntityManager, queryIn } from "@statehouse/postgres";
import type { OrganizationId, RunId, RunTokenId, WorkspaceId } from "../domain/ids.ts";
import type { Run, RunToken } from "../domain/run-token.ts";

/** The principal of a run's token. */
export interface AuthenticatedRun {
  tokenId: RunTokenId;
  runId: RunId;
  versions: string;
}

/** The binding of a run never changes: one version while it is known. */
const versions = `'r:' || r.workspace_id`;

/** Needed by every request of a run: one statement. */
export const authenticateRun = `
  -- index: run_tokens_hash_key, runs_pkey
  select t.id as "tokenId", r.id as "runId", ${versions} as versions
  from run_tokens t join runs r on r.id = t.run_id
  where t.hash = $1 and t.expired_at > $2`;

/** Runs and their tokens, outside any transaction. */
export const runTokenReads = (database: Database) => ({
  async authenticate(hash: string, at: Date): Promise<AuthenticatedRun | undefined> {
    const [row] = await database.query<AuthenticatedRun>(authenticateRun, [hash, at]);
    return row;
  },

  /** The run's binding, while it has valid tokens. */
  async binding(
    runId: string,
    at: Date,
  ): Promise<
    { workspaceId: WorkspaceId; organizationId: OrganizationId; versions: string } | undefined
  > {
    const [row] = await database.query<{
      workspaceId: WorkspaceId;
      organizationId: OrganizationId;
      versions: string;
    }>(
      // index: runs_pkey
      `select workspace_id as "workspaceId", organization_id as "organizationId",
         ${versions} as versions
       from runs r where id = $1 and expired_at > $2`,
      [runId, at],
    );
    return row;
  },

  /** Deletes runs whose last token has expired; a few at a time, so that no caller waits. */
  async dropExpired(at: Date): Promise<void> {
    await database.query(
      // index: runs_expired_at
      `delete from runs where id in (
         select id from runs where expired_at <= $1 order by expired_at limit 50
         for update skip locked)`,
      [at],
    );
  },

  /** Revokes the tokens of a run. */
  async dropRun(runId: string): Promise<void> {
    await database.query("delete from runs where id = $1", [runId]);
  },

  /** Revokes the tokens of all runs of a workspace. */
  async dropWorkspace(workspaceId: string): Promise<void> {
    // index: runs_workspace
    await database.query("delete from runs where workspace_id = $1", [workspaceId]);
  },
});

/** Runs and their tokens inside a transaction. */
export const runTokenRows = (em: EntityManager) => ({
  /** The run as it is bound: as in `run`, unless another transaction was first; locks its row. */
  async bind(run: Run, expiredAt: Date): Promise<Run> {
    const [row] = await queryIn<Run>(
      em,
      // index: runs_pkey
      `insert into runs (id, workspace_id, organization_id, runner, expired_at)
       values ($1, $2, $3, $4, $5)
       on conflict (id) do update set expired_at = greatest(runs.expired_at, excluded.expired_at)
       returning id, workspace_id as "workspaceId", organization_id as "organizationId", runner`,
      [run.id, run.workspaceId, run.organizationId, run.runner, expiredAt],
    );
    return row ?? run;
  },

  async add(token: RunToken): Promise<void> {
    await queryIn(
      em,
      `insert into run_tokens (id, run_id, hash, revision, expired_at) values ($1, $2, $3, $4, $5)`,
      [token.id, token.runId, token.hash, token.revision, token.expiredAt],
    );
  },

  /** A token of this runner, locked; also an expired one. */
  async findForUpdate(
    id: RunTokenId,
    runner: string,
  ): Promise<{ token: RunToken; run: Run } | undefined> {
    type Row = Omit<RunToken, "revision"> & { revision: number } & Omit<Run, "id">;
    const [row] = await queryIn<Row>(
      em,
      // index: run_tokens_pkey, runs_pkey
      `select t.id, t.run_id as "runId", t.hash, t.revision, t.expired_at as "expiredAt",
         r.workspace_id as "workspaceId", r.organization_id as "organizationId", r.runner
       from runs r join run_tokens t on t.run_id = r.id
       where t.id = $1 and r.runner = $2 for update`,
      [id, runner],
    );
    if (!row) return undefined;
    const { workspaceId, organizationId, runner: own, ...token } = row;
    return {
      token: { ...token, revision: BigInt(token.revision) },
      run: { id: row.runId, workspaceId, organizationId, runner: own },
    };
  },

  async save({ id, runId, revision, expiredAt }: RunToken): Promise<void> {
    await queryIn(em, "update run_tokens set revision = $2, expired_at = $3 where id = $1", [
      id,
      revision,
      expiredAt,
    ]);
    await queryIn(em, "update runs set expired_at = greatest(expired_at, $2) where id = $1", [
      runId,
      expiredAt,
    ]);
  },

  async delete(id: RunTokenId): Promise<void> {
    await queryIn(em, "delete from run_tokens where id = $1", [id]);
  },
});
