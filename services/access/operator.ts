import { openDatabase } from "@statehouse/postgres";
import { createLogger } from "@statehouse/runtime";
import type { App } from "./app/app.ts";
import { entities } from "./store/entities.ts";
import { migrations } from "./store/migrations.ts";
import { readsOf } from "./store/reads.ts";
import { transactions } from "./store/transaction.ts";

/** The operator, who has the database anyway. */
export const operator = { kind: "service", name: "operator" } as const;

const nowhere = async (): Promise<never> => {
  throw new Error("the operator's commands ask no other service");
};

/** The use cases on the database at `url`, for commands. */
export async function openOperatorApp(
  url: string,
  maxTokenDays?: number | undefined,
): Promise<{ app: App } & AsyncDisposable> {
  const logger = createLogger({ service: "access", level: "warn" });
  const database = await openDatabase({
    contextName: "access",
    url,
    entities,
    migrations,
    logger,
  });
  return {
    app: {
      transaction: transactions(database),
      reads: readsOf(database),
      settings: { maxTokenDays, runTokenLifetimeMs: 0 },
      tokenUsage: { note: () => {} },
      organizationOfProject: nowhere,
      placementOfWorkspace: nowhere,
      placeRun: nowhere,
      now: () => new Date(),
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
