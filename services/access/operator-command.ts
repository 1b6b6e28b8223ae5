import { createAudit } from "@statehouse/audit";
import { type Database, openDatabase } from "@statehouse/postgres";
import { type Changing, createLogger } from "@statehouse/runtime";
import type { App } from "./app.ts";
import { migrations } from "./migrations.ts";
import { createReads, entities, transactions } from "./nouns.ts";
import { createTokenUsage } from "./token-usage/app.ts";

/**
 * The caller of operator commands. The commands use the database directly and are not authorized, because operators who
 * have the database password can change everything anyway.
 */
export const operator = { kind: "service", name: "operator" } as const;

const notCalled = async (): Promise<never> => {
  throw new Error("operator commands call no other service");
};

/** Creates the dependencies of the use cases for the database at `url`. */
export async function openOperatorApp(
  url: Changing<string>,
  maxTokenDays?: number | undefined,
): Promise<{ app: App; database: Database } & AsyncDisposable> {
  const logger = createLogger({ service: "access", level: "warn" });
  const database = await openDatabase({
    contextName: "access",
    url,
    pooling: "transaction",
    entities,
    migrations,
    logger,
  });
  return {
    database,
    app: {
      transaction: transactions(database),
      reads: createReads(database),
      settings: { maxTokenDays, runTokenLifetimeMs: 0 },
      tokenUsage: createTokenUsage(),
      audit: createAudit(database, "access"),
      workspaces: {
        nameOfOrganization: notCalled,
        organizationOfProject: notCalled,
        placementOfWorkspace: notCalled,
        placeRun: notCalled,
        listDeletedWorkspaces: notCalled,
        listDeletedProjects: notCalled,
        listEndedRuns: notCalled,
      },
      now: () => new Date(),
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
