import { ReferenceKind } from "@mikro-orm/core";
import type { Database } from "./database.ts";

interface TableColumn {
  table: string;
  column: string;
  type: string;
  nullable: boolean;
  filled: boolean;
}

/** The types that the ORM and PostgreSQL name differently: PostgreSQL's name, then the ORM's name. */
const ormNames: Readonly<Record<string, string>> = {
  "timestamp with time zone": "timestamptz",
  integer: "int",
  "character varying": "varchar",
};

/**
 * Returns the differences between the entities and the migrated database, one per line; empty if they agree. An entity
 * may omit a column that is nullable or has a default.
 */
export async function schemaDrift({ orm, query }: Database): Promise<string[]> {
  const found = await query<TableColumn>(
    `select c.relname as "table", a.attname as "column", not a.attnotnull as nullable,
       format_type(a.atttypid, null) as type,
       a.atthasdef or a.attidentity <> '' or a.attgenerated <> '' as filled
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
       and a.attnum > 0 and not a.attisdropped`,
  );
  const differences: string[] = [];
  for (const entity of orm.getMetadata().getAll().values()) {
    const table = entity.tableName;
    if (!table || entity.embeddable) continue;
    const columns = new Map(
      found.filter((row) => row.table === table).map((row) => [row.column, row]),
    );
    if (columns.size === 0) {
      differences.push(`${table}: no such table`);
      continue;
    }
    for (const property of Object.values(entity.properties)) {
      // The columns of an embedded value are separate properties.
      if (property.persist === false || property.kind === ReferenceKind.EMBEDDED) continue;
      for (const [index, name] of (property.fieldNames ?? []).entries()) {
        const where = `${table}.${name}`;
        const column = columns.get(name);
        columns.delete(name);
        if (!column) {
          differences.push(`${where}: no such column`);
          continue;
        }
        const declared = withoutPrecision(property.columnTypes[index] ?? "");
        const actual = ormNames[column.type] ?? column.type;
        if (declared !== actual)
          differences.push(`${where}: ${declared}, in the database ${actual}`);
        const nullable = property.nullable === true;
        if (nullable !== column.nullable) {
          differences.push(
            `${where}: ${nullability(nullable)}, in the database ${nullability(column.nullable)}`,
          );
        }
      }
    }
    for (const { column, nullable, filled } of columns.values()) {
      if (!nullable && !filled) differences.push(`${table}.${column}: not in the entity, not null`);
    }
  }
  return differences.toSorted();
}

const withoutPrecision = (type: string): string => type.replace(/\(\d+\)/, "");

const nullability = (nullable: boolean): string => (nullable ? "nullable" : "not null");
