import {
  type AnyEntity,
  type ChangeSet,
  ChangeSetType,
  type EntityMetadata,
  Utils,
} from "@mikro-orm/core";
import type { EntityManager as OrmEntityManager } from "@mikro-orm/postgresql";

// MikroORM keeps the rows that a transaction has loaded, inserted or removed, and computes what has changed in them.
// This file writes these changes as parts of one statement.

/**
 * The rows of one transaction. The type has no function of MikroORM that sends a statement, because that statement
 * would run outside the transaction.
 */
export type EntityManager = Pick<
  OrmEntityManager,
  | "config"
  | "getComparator"
  | "getEntityFactory"
  | "getMetadata"
  | "getUnitOfWork"
  | "persist"
  | "remove"
>;

type Change = ChangeSet<AnyEntity>;

const changes = new WeakMap<object, Set<string>>();

/** Notes a change that the row's own columns do not contain, for example a change of rows that refer to it. */
export function noteChange(row: object, name: string): void {
  changes.set(row, (changes.get(row) ?? new Set()).add(name));
}

/**
 * Returns the names of the properties that have changed in the rows since they were loaded, and those that `noteChange`
 * has added. New rows and embedded values have none.
 */
export function changedProperties(em: EntityManager, rows: readonly object[]): readonly string[] {
  for (const row of rows) {
    const loaded = Utils.isEntity(row) && em.getUnitOfWork(false).getOriginalEntityData(row);
    if (!loaded) continue;
    const comparator = em.getComparator();
    const meta = em.getMetadata().get(row.constructor as new () => object);
    const current = comparator.prepareEntity(row);
    noteProperties(row, meta, comparator.diffEntities(meta.class, loaded, current));
  }
  return rows.flatMap((row) => [...(changes.get(row) ?? [])]);
}

function noteProperties(row: object, meta: EntityMetadata, changed: object): void {
  for (const name of Object.keys(changed)) {
    const property = meta.properties[name];
    if (property?.kind === "scalar" && !property.embedded) noteChange(row, name);
  }
}

/** Returns the changes of `em` that have not been written. */
export function pendingChanges(em: EntityManager): Change[] {
  const unitOfWork = em.getUnitOfWork(false);
  unitOfWork.computeChangeSets();
  return unitOfWork.getChangeSets();
}

/** Makes the current values of the rows the values with which later changes are compared. */
export function markWritten(em: EntityManager, written: readonly Change[]): void {
  const unitOfWork = em.getUnitOfWork(false);
  for (const { entity, meta, type, payload } of written) {
    if (type === ChangeSetType.UPDATE) noteProperties(entity, meta, payload);
    if (type === ChangeSetType.DELETE) {
      unitOfWork.unsetIdentity(entity);
    } else {
      unitOfWork.merge(entity);
      unitOfWork.getPersistStack().delete(entity);
    }
  }
}

/** A column of a row, with its type in SQL and the value that is written. */
interface Column {
  name: string;
  type: string;
  value: unknown;
}

/** The parts of a statement that write changes. They can run in any order. */
export interface WritingParts {
  /** The part that writes each of the named rows, and returns the row as it is stored. */
  named: ReadonlyMap<string, string>;
  others: readonly string[];
}

/**
 * Returns SQL that writes `pending`. Adds the parameters of the SQL to `params`. Rows of one table with the same
 * changed columns are written by one part, except the rows that `names` contains: each of these has a part of its own,
 * which selects the row if nothing has changed in it.
 */
export function writingParts(
  em: EntityManager,
  pending: readonly Change[],
  names: Readonly<Record<string, object>>,
  params: unknown[],
): WritingParts {
  const bind = (value: unknown) => `$${params.push(value)}`;
  const named = new Map(
    Object.entries(names).map(([name, row]) => {
      const change = pending.find(({ entity }) => entity === row);
      return [name, change ? writeOne(change, bind, "returning *") : selectOne(em, row, bind)];
    }),
  );
  const groups = new Map<string, Change[]>();
  const namedRows = new Set(Object.values(names));
  for (const change of pending) {
    if (namedRows.has(change.entity)) continue;
    const { meta, type, payload } = change;
    const key = `${meta.tableName} ${type} ${Object.keys(payload).join(" ")}`;
    groups.set(key, [...(groups.get(key) ?? []), change]);
  }
  const others = [...groups.values()].map((group) =>
    group.length === 1 ? group.map((change) => writeOne(change, bind))[0] : writeMany(group, bind),
  );
  return { named, others: others.filter((part) => part !== undefined) };
}

type Bind = (value: unknown) => string;

function writeOne(change: Change, bind: Bind, returning = ""): string {
  const { meta, type } = change;
  const written = writtenColumns(change);
  const values = written.map(({ value }) => bind(value));
  const names = written.map(({ name }) => name);
  if (type === ChangeSetType.CREATE) {
    return `insert into ${meta.tableName} (${names}) values (${values}) ${returning}`;
  }
  const condition = keyColumns(change)
    .map(({ name, value }) => `${name} = ${bind(value)}`)
    .join(" and ");
  if (type === ChangeSetType.DELETE) return `delete from ${meta.tableName} where ${condition}`;
  const set = names.map((name, index) => `${name} = ${values[index]}`);
  return `update ${meta.tableName} set ${set} where ${condition} ${returning}`;
}

/** Writes rows with the same columns. Each column is one array, so that the SQL is the same for any number of rows. */
function writeMany(group: readonly Change[], bind: Bind): string {
  const [first] = group;
  if (!first) throw new Error("no row to write");
  const { meta, type } = first;
  const written = writtenColumns(first);
  const inserts = type === ChangeSetType.CREATE;
  const columns = inserts ? written : [...keyColumns(first), ...written];
  const rows = group.map((change) =>
    inserts ? writtenColumns(change) : [...keyColumns(change), ...writtenColumns(change)],
  );
  const arrays = columns.map((_, index) => `${bind(rows.map((row) => row[index]?.value))}::text[]`);
  const source = `unnest(${arrays}) as given (${columns.map((_, index) => `c${index}`)})`;
  const selected = columns.map(({ type }, index) => `given.c${index}::${type}`);
  if (inserts) {
    return `insert into ${meta.tableName} (${written.map(({ name }) => name)})
      select ${selected} from ${source}`;
  }
  const keys = columns.length - written.length;
  const condition = columns
    .slice(0, keys)
    .map(({ name }, index) => `${meta.tableName}.${name} = ${selected[index]}`)
    .join(" and ");
  if (type === ChangeSetType.DELETE) {
    return `delete from ${meta.tableName} using ${source} where ${condition}`;
  }
  const set = written.map(({ name }, index) => `${name} = ${selected[keys + index]}`);
  return `update ${meta.tableName} set ${set} from ${source} where ${condition}`;
}

function selectOne(em: EntityManager, row: object, bind: Bind): string {
  const meta = em.getMetadata().get(row.constructor as new () => object);
  const condition = meta
    .getPrimaryProps()
    .map(({ name, fieldNames }) => `${fieldNames[0]} = ${bind(Reflect.get(row, name))}`)
    .join(" and ");
  return `select * from ${meta.tableName} where ${condition}`;
}

const keyColumns = ({ entity, meta }: Change): Column[] =>
  meta.getPrimaryProps().map(({ name, fieldNames, columnTypes }) => ({
    name: fieldNames[0] ?? name,
    type: columnTypes[0] ?? "text",
    value: Reflect.get(entity, name),
  }));

const writtenColumns = ({ meta, payload }: Change): Column[] =>
  Object.entries(payload).flatMap(([property, value]) => {
    const { fieldNames, columnTypes, kind } = meta.properties[property] ?? {};
    // The columns of an embedded value are separate properties.
    if (!fieldNames?.[0] || !columnTypes?.[0] || kind === "embedded") return [];
    return [{ name: `"${fieldNames[0]}"`, type: columnTypes[0], value }];
  });
