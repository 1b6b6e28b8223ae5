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

export type Columns = Readonly<
  Record<string, { type: unknown; fieldName?: string; primary?: boolean }>
>;

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

/**
 * Returns a function that converts a row, selected with `selectList` and the same columns, to the fields of its entity.
 * The function converts the numbers that hand-written SQL returns for bigint columns to bigints.
 */
export function fieldsReader<Fields>(columns: Columns): (row: object) => Fields {
  const counters = Object.entries(columns)
    .filter(([, { type }]) => type instanceof BigIntType)
    .map(([field]) => field);
  return (row) => {
    const fields: Record<string, unknown> = { ...row };
    for (const field of counters) {
      const value = fields[field];
      if (typeof value === "number") fields[field] = BigInt(value);
    }
    return fields as Fields;
  };
}

/**
 * Returns a statement that inserts a row and returns it. `json` is a placeholder, for example `$1`. Its parameter must
 * be the result of `rowJson` with the same columns.
 */
export function insertRow(table: string, columns: Columns, json = "$1"): string {
  const names = Object.entries(columns).map(([field, column]) => columnName(field, column));
  return `insert into ${table} (${names.join(", ")})
    select ${names.join(", ")} from jsonb_populate_record(null::${table}, ${json}::jsonb) returning *`;
}

/**
 * Returns a statement that updates a row and returns it. `json` is a placeholder, for example `$1`. Its parameter must
 * be the result of `rowJson` with the same columns.
 */
export const updateRow = (table: string, columns: Columns, json: string): string =>
  updateFrom(table, columns, `jsonb_populate_record(null::${table}, ${json}::jsonb)`);

/**
 * Returns a statement that updates several rows and returns them. `json` is a placeholder, for example `$1`. Its
 * parameter must be a JSON array of rows, each in the form that `rowJson` returns.
 */
export const updateRows = (table: string, columns: Columns, json: string): string =>
  updateFrom(table, columns, `jsonb_populate_recordset(null::${table}, ${json}::jsonb)`);

function updateFrom(table: string, columns: Columns, rows: string): string {
  const keys: string[] = [];
  const values: string[] = [];
  for (const [field, column] of Object.entries(columns)) {
    const name = columnName(field, column);
    if (column.primary) keys.push(`${table}.${name} = wanted.${name}`);
    else values.push(`${name} = wanted.${name}`);
  }
  return `update ${table} set ${values.join(", ")} from ${rows} wanted
    where ${keys.join(" and ")} returning ${table}.*`;
}

/** Returns the given columns of a row as JSON, under their names in the table. */
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
