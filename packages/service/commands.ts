import { type Consumer, replayDeadLetters as replay } from "@statehouse/events";
import {
  createSealer,
  type Database,
  migrate,
  openDatabase,
  type Sealer,
  type SqlMigration,
} from "@statehouse/postgres";
import { createLogger, keyRingSetting, readConfig, settings } from "@statehouse/runtime";
import { z } from "zod";
import type { Clients } from "./channels.ts";
import type { OpenedApp } from "./open-app.ts";

type Print = (line: string) => void;

interface Migrated {
  name: Clients;
  migrations: readonly SqlMigration[];
  afterMigration(print: Print): Promise<void>;
}

/** Applies the missing migrations to the database of DATABASE_URL. */
export async function migrateService(service: Migrated, print: Print): Promise<void> {
  const { DATABASE_URL: url } = readConfig(z.object({ DATABASE_URL: settings.DATABASE_URL }));
  const { name: contextName, migrations } = service;
  const applied = await migrate({ url, contextName, migrations });
  for (const name of applied) print(`applied ${name}`);
  if (applied.length === 0) print("nothing to apply");
  await service.afterMigration(print);
}

const rotationSchema = z.object({
  DATABASE_URL: settings.DATABASE_URL,
  SEALING_KEYS: keyRingSetting({ bytes: 32 }).describe("The first key encrypts, all decrypt."),
});

interface Sealed {
  name: Clients;
  entities: Parameters<typeof openDatabase>[0]["entities"];
  migrations: readonly SqlMigration[];
  rotateKeys(database: Database, sealer: Sealer): Promise<number>;
}

/** Re-encrypts the sealed columns with the first key of SEALING_KEYS. Afterwards the other keys can be removed. */
export async function rotateKeys(service: Sealed, print: Print): Promise<void> {
  const { DATABASE_URL: url, SEALING_KEYS: keys } = readConfig(rotationSchema);
  const { name: contextName, entities, migrations } = service;
  const logger = createLogger({ service: contextName });
  await using database = await openDatabase({ contextName, url, entities, migrations, logger });
  print(`re-encrypted ${await service.rotateKeys(database, createSealer({ keys }))} values`);
}

interface Consuming<Config, App> {
  name: Clients;
  config: z.ZodObject & z.ZodType<Config>;
  openApp(config: Config): Promise<OpenedApp<App> & AsyncDisposable>;
  consumers(app: App): Consumer[];
}

/** Processes the dead letters of a service again. Returns false if some of them still fail. */
export async function replayDeadLetters<Config, App>(
  service: Consuming<Config, App>,
  print: Print,
): Promise<boolean> {
  await using opened = await service.openApp(readConfig(service.config) as Config);
  const { app, database } = opened;
  const consumers = service.consumers(app);
  return await replay({ database, service: service.name, consumers, print });
}
