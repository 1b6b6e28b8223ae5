import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { SqlMigration } from "../index.ts";
import { freshDatabase } from "./fresh-database.ts";

/**
 * Returns the indexes that the comments `index: …` in the files of a service's store name, and that its migrated
 * database does not have.
 */
export async function missingIndexes({
  store,
  ...service
}: {
  contextName: string;
  migrations: readonly SqlMigration[];
  /** The folder of the store. */
  store: string;
}): Promise<string[]> {
  await using database = await freshDatabase(service);
  const rows = await database.query<{ name: string }>("select indexname as name from pg_indexes");
  const existing = new Set(rows.map(({ name }) => name));
  const texts = globSync("*.ts", { cwd: store }).map((file) =>
    readFileSync(path.join(store, file), "utf8"),
  );
  // A list that ends with a comma continues on the next line.
  const lists = texts.flatMap((text) => text.match(/\bindex: .*(?:,\n.*)*/g) ?? []);
  const named = new Set(lists.flatMap((list) => list.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? []));
  return [...named].filter((name) => !existing.has(name));
}
