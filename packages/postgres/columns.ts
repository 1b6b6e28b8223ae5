import { ArrayType, BigIntType, UnderscoreNamingStrategy } from "@mikro-orm/core";

// Column types of entity schemas. A reference to another row is a plain id, because rows are loaded and written one by
// one.

export const text = { type: "text" } as const;
export const boolean = { type: "boolean" } as const;
export const integer = { type: "integer" } as const;
/** Read as a JavaScript bigint. */
export const bigint = { type: new BigIntType("bigint") } as const;
/** Read as a JavaScript `Date`, in milliseconds. */
export const timestamptz = { type: "datetime", length: 3 } as const;
export const textArray = { type: new ArrayType() } as const;
export const jsonb = { type: "json" } as const;
/** A text column that is the primary key or a part of it. */
export const primaryKey = { type: "text", primary: true } as const;

/** Makes a column nullable. */
export const optional = <Column extends object>(column: Column) =>
  ({ ...column, nullable: true }) as const;

export type Columns = Readonly<Record<string, { type: unknown; fieldName?: string }>>;

const naming = new UnderscoreNamingStrategy();

/**
 * Returns the select list of a table, with each column named after its entity's field: `w.auto_apply as "autoApply",
 * …`.
 */
export const selectList = (table: string, columns: Columns): string =>
  Object.entries(columns)
    .map(([field, column]) => {
      const name = columnName(field, column);
      return name === field ? `${table}.${field}` : `${table}.${name} as "${field}"`;
    })
    .join(", ");

const columnName = (field: string, { fieldName }: Columns[string]): string =>
  fieldName ?? naming.propertyToColumnName(field);

/** Returns an insert of the row that `rowJson` returns with the same columns, as `$1`. It returns the inserted row. */
export function insertRow(table: string, columns: Columns): string {
  const names = Object.entries(columns).map(([field, column]) => columnName(field, column));
  return `insert into ${table} (${names.join(", ")})
    select ${names.join(", ")} from jsonb_populate_record(null::${table}, $1::jsonb) returning *`;
}

/** Returns these columns of a row as JSON, under their names in the table. */
export const rowJson = (row: object, columns: Columns): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(columns).map(([field, column]) => [
        columnName(field, column),
        Reflect.get(row, field),
      ]),
    ),
    (_, value) => (typeof value === "bigint" ? String(value) : value),
  );
