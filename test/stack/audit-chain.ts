import { verifyChains } from "@statehouse/audit";
import { chainWhenReady } from "@statehouse/audit/testing";
import { openDatabase } from "@statehouse/postgres";
import { createLogger } from "@statehouse/runtime";
import type { Stack } from "./stack.ts";

const services = ["access", "workspaces", "state"] as const;

const databaseOf = ({ databases }: Stack, service: (typeof services)[number]) =>
  openDatabase({
    contextName: service,
    url: databases[service],
    entities: [],
    migrations: [],
    logger: createLogger({ service, level: "silent" }),
  });

/** Seals the audit records of all services immediately, instead of within a minute. */
export async function chainNow(stack: Stack): Promise<void> {
  for (const service of services) {
    await using database = await databaseOf(stack, service);
    const key = JSON.parse(stack.environments[service].ASSERTION_PRIVATE_KEY ?? "");
    const logger = createLogger({ service, level: "silent" });
    await chainWhenReady({ database, service, key, logger });
  }
}

/**
 * Verifies the chains of audit records of all services. Returns the findings of all organizations, and the number of
 * sealed records of `organization`.
 */
export async function verifyNow(stack: Stack, organization: string) {
  const findings: string[] = [];
  let records = 0;
  for (const service of services) {
    await using database = await databaseOf(stack, service);
    const keys = JSON.parse(stack.environments[service].ASSERTION_PUBLIC_KEYS ?? "");
    const options = { service, keys, heads: new Map(), keptSince: new Date(0) };
    const verified = await verifyChains(database, options, (finding) => findings.push(finding));
    for (const chain of verified) if (chain.organization === organization) records += chain.records;
  }
  return { findings, records };
}
