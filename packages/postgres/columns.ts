import { ArrayType, BigIntType, UnderscoreNamingStrategy } from "@mikro-orm/core";

// Column types of entity schemas. A reference to another row is a plain id, because rows are loaded and written one by
// one.

export const text = { type: "text" } as const;
export const boolean = { type: "boolean" } as const;
export const integer = { type: "integer" } as const;
/** Read as a JavaScript bigint. */
export const bigint = { type: new BigIntType("bigint") } as const;
/** A bigint column that is read as a JavaScript number. */
export const bigintNumber = { type: new BigIntType("number") } as const;
/** Read as a JavaScript `Date`, in milliseconds. */
export const timestamptz = { type: "datetime", length: 3 } as const;
export const textArray = { type: new ArrayType() } as const;
export const jsonb = { type: "json" } as const;
/** A text column that is the primary key or a part of it. */
export const primaryKey = { type: "text", primary: true } as const;

/** Makes a column nullable. */
export const optional = <Column extends object>(column: Column) =>
  ({ ...column, nullable: true }) as const;

type Columns = Readonly<Record<string, { type: unknown; fieldName?: string }>>;

const naming = new UnderscoreNamingStrategy();

/**
 * Returns the select list of a table, with each column named after its entity's field: `w.auto_apply as "autoApply",
 * …`.
 */
export const selectList = (table: string, columns: Columns): string =>
  Object.entries(columns)
    .map(([field, { fieldName }]) => {
      const name = fieldName ?? naming.propertyToColumnName(field);
      return name === field ? `${table}.${field}` : `${table}.${name} as "${field}"`;
    })
    .join(", ");
