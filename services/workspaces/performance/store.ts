import { EntitySchema } from "@mikro-orm/core";
import { type EntityManager, recordsOf } from "@statehouse/postgres";
import { bigintNumber, integer, primaryKey } from "@statehouse/postgres/columns";
import { workspaceNotFound } from "../workspace/domain.ts";
import { WorkspacePerformance } from "./domain.ts";

const entity = new EntitySchema({
  class: WorkspacePerformance,
  tableName: "workspace_performance",
  properties: {
    workspaceId: primaryKey,
    runs: integer,
    runFailures: integer,
    policyCheckFailures: integer,
    planRuns: integer,
    planMs: bigintNumber,
    applyRuns: integer,
    applyMs: bigintNumber,
  },
});

/**
 * Reads and writes of the sums of a workspace's performance, inside a transaction that holds the lock on the
 * workspace's row.
 */
const rows = (em: EntityManager) => recordsOf(em, entity, workspaceNotFound);

export const performance = { entity, rows };
