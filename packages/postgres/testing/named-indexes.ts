import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { SqlMigration } from "../index.ts";
import { freshDatabase } from "./fresh-database.ts";

/**
 * Returns the indexes that the comments `index: …` in the files of these folders name, and that the migrated
 * database does not have.
 */
export async function missingIndexes({
  folders,
  files = "*.ts",
  ...schema
}: {
  contextName: string;
  migrations: readonly SqlMigration[];
  /** Folders with SQL. */
  folders: readonly string[];
  /** The files with SQL in each folder, as a pattern. By default, files of subfolders are not read. */
  files?: string;
}): Promise<string[]> {
  await using database = await freshDatabase(schema);
  const rows = await database.query<{ name: string }>("select indexname as name from pg_indexes");
  const existing = new Set(rows.map(({ name }) => name));
  const texts = folders.flatMap((folder) =>
    globSync(files, { cwd: folder }).map((file) => readFileSync(path.join(folder, file), "utf8")),
  );
  // A list that ends with a comma continues on the next line.
  const lists = texts.flatMap((text) => text.match(/\bindex: .*(?:(?<=,)\n.*)*/g) ?? []);
  const named = new Set(lists.flatMap((list) => list.match(/\b[a-z0-9]+(?:_[a-z0-9]+)+\b/g) ?? []));
  return [...named].filter((name) => !existing.has(name));
}
