import { ArrayType, BigIntType, UnderscoreNamingStrategy } from "@mikro-orm/core";

// Column types of entity schemas. References are plain ids, because rows are loaded and written one by one.

export const text = { type: "text" } as const;
export const boolean = { type: "boolean" } as const;
export const integer = { type: "integer" } as const;
/** As a JavaScript bigint. */
export const bigint = { type: new BigIntType("bigint") } as const;
/** In milliseconds, as JavaScript's `Date`. */
export const timestamptz = { type: "datetime", length: 3 } as const;
export const textArray = { type: new ArrayType() } as const;
export const jsonb = { type: "json" } as const;
/** A text that is the primary key, or a part of it. */
export const primaryKey = { type: "text", primary: true } as const;

/** Makes a column nullable. */
export const optional = <Column extends object>(column: Column) =>
  ({ ...column, nullable: true }) as const;

type Columns = Readonly<Record<string, { type: unknown; fieldName?: string }>>;

const naming = new UnderscoreNamingStrategy();

/** The columns of a table as SQL selects them for its entity's fields: `w.auto_apply as "autoApply", …`. */
export const selectList = (table: string, columns: Columns): string =>
  Object.entries(columns)
    .map(([field, { fieldName = naming.propertyToColumnName(field) }]) =>
      fieldName === field ? `${table}.${field}` : `${table}.${fieldName} as "${field}"`,
    )
    .join(", ");
