import { EntitySchema } from "@mikro-orm/core";
import { expect, test } from "vitest";
import {
  bigint,
  boolean,
  integer,
  optional,
  primaryKey,
  text,
  textArray,
  timestamptz,
} from "../columns.ts";
import { migratedSchemaDrift } from "../testing/index.ts";

class Cup {}

const cups = new EntitySchema({
  class: Cup,
  tableName: "cups",
  properties: {
    id: primaryKey,
    name: text,
    note: optional(text),
    glazed: boolean,
    size: integer,
    revision: bigint,
    colours: textArray,
    madeAt: timestamptz,
  },
});

const drift = (columns: string) =>
  migratedSchemaDrift({
    contextName: "drift",
    entities: [cups],
    migrations: [{ name: "0001_cups", up: `create table cups (${columns})` }],
  });

const whole = `id text primary key, name text not null, note text, glazed boolean not null,
  size integer not null, revision bigint not null, colours text[] not null,
  made_at timestamptz(3) not null`;

test("an entity that agrees with its table has no drift", async () => {
  expect(await drift(whole)).toEqual([]);
  expect(
    await drift(`${whole}, sequence bigint generated always as identity, comment text`),
  ).toEqual([]);
});

test("reports a missing column, a different type and a different nullability", async () => {
  const changed = whole
    .replace("name text not null, ", "")
    .replace("glazed boolean not null", "glazed boolean")
    .replace("size integer", "size bigint");
  expect(await drift(`${changed}, weight integer not null`)).toEqual([
    "cups.glazed: not null, in the database nullable",
    "cups.name: no such column",
    "cups.size: int, in the database bigint",
    "cups.weight: not in the entity, not null",
  ]);
});

test("reports a missing table", async () => {
  const nothing = { contextName: "drift", entities: [cups], migrations: [] };
  expect(await migratedSchemaDrift(nothing)).toEqual(["cups: no such table"]);
});
