import type { EntityMetadata, EntitySchema } from "@mikro-orm/core";
import { commitWith, queryBothIn, queryIn, type Statement, sendChanges } from "./transaction.ts";
import { type EntityManager, pendingChanges } from "./unit-of-work.ts";

/** Values that a row must have: one value, or one of several. Null matches null only. */
export type Where<Row> = {
  readonly [Field in keyof Row]?: Row[Field] | readonly NonNullable<Row[Field]>[];
};

/**
 * How a row is locked until the transaction ends. `share` prevents changes by others; `skip locked` omits the rows that
 * another transaction has locked.
 */
type RowLock = "update" | "share" | "update skip locked";

interface SelectOptions<Row> {
  lock?: RowLock | undefined;
  /** Rows are sorted by these fields, ascending. Transactions that lock several rows must lock them in one order. */
  order?: readonly (keyof Row & string)[];
  limit?: number;
}

/** A statement that selects rows of one entity. */
export interface RowQuery<Row> extends Statement {
  schema: EntitySchema<Row>;
}

type Id<Row> = Row extends { id: infer RowId } ? RowId : never;

/** A row's id, or the values that it must have. */
type Key<Row> = Id<Row> | Where<Row>;

/** Like `selectRows`, for rows that match `condition`, SQL with the parameters `params`. */
export function selectWhere<Row extends object>(
  em: EntityManager,
  schema: EntitySchema<Row>,
  condition: string,
  params: readonly unknown[],
  { lock, order = [], limit }: SelectOptions<Row> = {},
): RowQuery<Row> {
  const meta = em.getMetadata().get<Row>(schema.meta.class);
  const columns = order.map((field) => columnOf(meta, field));
  const rest = [
    ...(columns.length > 0 ? [`order by ${columns.join(", ")}`] : []),
    ...(limit === undefined ? [] : [`limit $${params.length + 1}`]),
    ...(lock ? [`for ${lock}`] : []),
  ];
  return {
    schema,
    sql: `${selectOf(meta)} where ${condition} ${rest.join(" ")}`,
    params: limit === undefined ? params : [...params, limit],
  };
}

/** Returns the statement that selects the rows of `schema` which match `where`. */
export function selectRows<Row extends object>(
  em: EntityManager,
  schema: EntitySchema<Row>,
  where: Where<Row>,
  options: SelectOptions<Row> = {},
): RowQuery<Row> {
  const meta = em.getMetadata().get<Row>(schema.meta.class);
  const params: unknown[] = [];
  const conditions = Object.entries(where).map(([field, value]) => {
    const column = columnOf(meta, field);
    if (value === null) return `${column} is null`;
    params.push(value);
    return Array.isArray(value)
      ? `${column} = any($${params.length})`
      : `${column} = $${params.length}`;
  });
  return selectWhere(em, schema, conditions.join(" and ") || "true", params, options);
}

const selects = new WeakMap<object, string>();

function selectOf<Row>(meta: EntityMetadata<Row>): string {
  const known = selects.get(meta);
  if (known !== undefined) return known;
  const columns = meta.props.flatMap(({ kind, fieldNames, persist }) =>
    kind === "scalar" && persist !== false ? [`"${fieldNames[0]}"`] : [],
  );
  const select = `select ${columns.join(", ")} from ${meta.tableName}`;
  selects.set(meta, select);
  return select;
}

function columnOf<Row>(meta: EntityMetadata<Row>, field: string): string {
  const property = meta.props.find(({ name }) => name === field);
  const column = property?.fieldNames[0];
  if (column === undefined) throw new Error(`${meta.tableName} has no column for ${field}`);
  return `"${column}"`;
}

/** Runs the query. Its rows belong to the unit of work of `em`, which finds and writes what changes in them. */
export const loadRows = async <Row extends object>(
  em: EntityManager,
  { schema, sql, params }: RowQuery<Row>,
): Promise<Row[]> => managed(em, schema, await queryIn<object>(em, sql, params));

/** Runs two queries, in this order and in one round trip. */
export async function loadBoth<First extends object, Second extends object>(
  em: EntityManager,
  first: RowQuery<First>,
  second: RowQuery<Second>,
): Promise<[First[], Second[]]> {
  const [one, other] = await queryBothIn<object, object>(em, first, second);
  return [managed(em, first.schema, one), managed(em, second.schema, other)];
}

function managed<Row extends object>(
  em: EntityManager,
  schema: EntitySchema<Row>,
  rows: readonly object[],
): Row[] {
  const meta = em.getMetadata().get<Row>(schema.meta.class);
  const columns = meta.getPrimaryProps().map(({ name, fieldNames }) => fieldNames[0] ?? name);
  return rows.map((values) => {
    const key = columns.map((column) => Reflect.get(values, column));
    const known = em.getUnitOfWork(false).getById<Row>(schema.meta.class, key as never);
    if (known && pendingChanges(em).some(({ entity }) => entity === known)) {
      throw new Error(`A row of ${meta.tableName} was loaded again before it was saved`);
    }
    // The steps of `em.map`, without the second snapshot of the row that it takes.
    const data = em.getComparator().mapResult<Row>(meta, values as never);
    return em.getEntityFactory().create<Row>(schema.meta.class, data, {
      merge: true,
      refresh: true,
      convertCustomTypes: true,
    });
  });
}

/**
 * The form in which each noun loads and writes its rows. Changes of rows are sent together with the transaction's next
 * statement, at the latest with COMMIT. `missing` creates the error that `get…` throws if there is no such row.
 */
export const recordsOf = <Row extends object>(
  em: EntityManager,
  schema: EntitySchema<Row>,
  missing: () => Error,
) => {
  const select = async (key: Key<Row>, lock?: RowLock): Promise<Row | undefined> => {
    const where = (typeof key === "string" ? { id: key } : key) as Where<Row>;
    const [row] = await loadRows(em, selectRows(em, schema, where, { lock }));
    return row;
  };
  const get = async (key: Key<Row>, lock?: RowLock): Promise<Row> => {
    const row = await select(key, lock);
    if (!row) throw missing();
    return row;
  };
  return {
    find: (key: Key<Row>) => select(key),
    findForUpdate: (key: Key<Row>) => select(key, "update"),
    get: (key: Key<Row>) => get(key),
    getForUpdate: (key: Key<Row>) => get(key, "update"),
    /** Locks the row against changes and deletion by others until the transaction ends. */
    getForShare: (key: Key<Row>) => get(key, "share"),
    list: (where: Where<Row>, options?: SelectOptions<Row>) =>
      loadRows(em, selectRows(em, schema, where, options)),

    /** Inserts the row if it is new, otherwise writes its changes. */
    save(row: Row): void {
      em.persist(row);
      sendChanges(em);
    },

    remove(row: Row): void {
      em.remove(row);
      sendChanges(em);
    },

    /**
     * Writes the row, inserting it if it is new, and commits. In the same round trip, returns the row of `select`, an
     * SQL statement with the parameters `params` that reads the written row as `changed`.
     */
    async commit<Document>(
      row: Row,
      select: string,
      params: readonly unknown[] = [],
    ): Promise<Document> {
      em.persist(row);
      const [document] = await commitWith<Document>(em, { rows: { changed: row }, select }, params);
      if (!document) throw missing();
      return document;
    },
  };
};
