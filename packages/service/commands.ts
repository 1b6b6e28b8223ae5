import { recordCommand } from "@statehouse/audit";
import { type Consumer, replayDeadLetters as replay } from "@statehouse/events";
import {
  createColumnCipher,
  migrate,
  openDatabase,
  rotateColumnKeys,
  type SealedColumn,
  type SqlMigration,
} from "@statehouse/postgres";
import {
  ConfigError,
  createLogger,
  keyRingSetting,
  readConfig,
  settings,
} from "@statehouse/runtime";
import { z } from "zod";
import type { ServiceName } from "./channels.ts";
import type { OpenedApp } from "./open-app.ts";

type Print = (line: string) => void;

interface MigrationTarget {
  name: ServiceName;
  migrations: readonly SqlMigration[];
  afterMigration(url: string, print: Print): Promise<void>;
}

/** The settings of the migrate command. */
export const migrationSettings = z.object({
  DATABASE_URL: z
    .url()
    .optional()
    .describe("Address of the service's database, with the user of the running service."),
  MIGRATE_DATABASE_URL: z
    .url()
    .optional()
    .describe(
      "Address of the same database with a user that may change the schema; default: DATABASE_URL.",
    ),
  MIGRATE_GRANT_TO: z
    .string()
    .optional()
    .describe(
      "Role that may read and write the rows afterwards; default: the user of DATABASE_URL, if MIGRATE_DATABASE_URL is set.",
    ),
  MIGRATE_WAIT_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .default(60)
    .describe("Seconds to wait for a database that is not available yet."),
});

/** Applies the missing migrations, and grants the database user of the running service access to the rows. */
export async function migrateService(service: MigrationTarget, print: Print): Promise<void> {
  const config = readConfig(migrationSettings);
  const url = config.MIGRATE_DATABASE_URL ?? config.DATABASE_URL;
  if (url === undefined) throw new ConfigError("DATABASE_URL: is required but not set");
  const { name: contextName, migrations } = service;
  const applied = await migrate({
    url,
    contextName,
    migrations,
    grantTo: config.MIGRATE_GRANT_TO ?? runtimeUser(config),
    waitMs: config.MIGRATE_WAIT_SECONDS * 1000,
    onWait: (reason) => print(`waiting for the database: ${reason}`),
  });
  for (const name of applied) print(`applied ${name}`);
  if (applied.length === 0) print("nothing to apply");
  await service.afterMigration(url, print);
}

/** Returns the database user of the running service if it differs from the user that migrates. */
function runtimeUser(config: z.output<typeof migrationSettings>): string | undefined {
  const { DATABASE_URL: own, MIGRATE_DATABASE_URL: migrating } = config;
  if (own === undefined || migrating === undefined) return undefined;
  const user = userOf(own);
  return user === userOf(migrating) ? undefined : user;
}

const userOf = (url: string): string | undefined =>
  decodeURIComponent(new URL(url).username) || undefined;

export const rotationSettings = z.object({
  DATABASE_URL: settings.DATABASE_URL,
  SEALING_KEYS: keyRingSetting({ bytes: 32 }).describe("The first key encrypts, all decrypt."),
});

interface RotationTarget {
  name: ServiceName;
  entities: Parameters<typeof openDatabase>[0]["entities"];
  migrations: readonly SqlMigration[];
  sealedColumns: readonly SealedColumn[];
}

/**
 * Re-encrypts the sealed columns with the first key of SEALING_KEYS while the service runs. Repeats until it finds no
 * value under another key, because a replica that has not switched to the first key yet can still encrypt with an older
 * one. Afterwards the other keys can be removed.
 */
export async function rotateKeys(service: RotationTarget, print: Print): Promise<void> {
  const { DATABASE_URL: url, SEALING_KEYS: keys } = readConfig(rotationSettings);
  const { name: contextName, entities, migrations, sealedColumns } = service;
  await using database = await openDatabase({
    contextName,
    url,
    pooling: "transaction",
    entities,
    migrations,
    logger: createLogger({ service: contextName }),
  });
  const cipher = createColumnCipher({ keys });
  const command = { name: "rotate-keys", database, service: contextName };
  const total = await recordCommand(command, async () => {
    let sum = 0;
    for (let found = -1; found !== 0; sum += found) {
      found = 0;
      for (const column of sealedColumns) found += await rotateColumnKeys(database, cipher, column);
    }
    return sum;
  });
  print(`re-encrypted ${total} values`);
}

interface ReplayTarget<Config, App> {
  name: ServiceName;
  config: z.ZodObject & z.ZodType<Config>;
  openApp(config: Config): Promise<OpenedApp<App> & AsyncDisposable>;
  consumers(app: App): Consumer[];
}

/** Processes the dead letters of a service again. Returns false if some of them still fail. */
export async function replayDeadLetters<Config, App>(
  service: ReplayTarget<Config, App>,
  print: Print,
): Promise<boolean> {
  await using opened = await service.openApp(readConfig(service.config) as Config);
  const { app, database } = opened;
  const consumers = service.consumers(app);
  const { name } = service;
  return await recordCommand({ name: "replay-dead-letters", database, service: name }, () =>
    replay({ database, service: name, consumers, print }),
  );
}
