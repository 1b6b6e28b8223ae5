import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { withoutPlanTest } from "./statements.ts";

const root = path.resolve(import.meta.dirname, "../..");

const sources = (service: string, pattern: string): Map<string, string> =>
  new Map(
    globSync(pattern, { cwd: path.join(root, "services", service) }).map((file) => [
      file,
      readFileSync(path.join(root, "services", service, file), "utf8"),
    ]),
  );

/**
 * SQL that needs no plan test, by service: its plan is always the same, because it reads a whole table or a table with
 * very few rows.
 */
const exempt: Record<string, string[]> = {
  // This function only sends the statements named `grantsOf…`, each of which has a plan test.
  access: ["grants/store.ts: find"],
  state: [
    // Only operators' commands that compare all rows with the store call these functions.
    "blob/store.ts: count",
    "content/store.ts: countVersions",
    "content/store.ts: listMissing",
    "content/store.ts: listMiscounted",
    "current-state/store.ts: count",
    // These functions use two tables: one contains a single row, the other one row for each recent interruption.
    "database-heartbeat/store.ts: addInterruption",
    "database-heartbeat/store.ts: find",
    "database-heartbeat/store.ts: findForUpdate",
    "database-heartbeat/store.ts: put",
    "database-heartbeat/store.ts: removeInterruptionsBefore",
    // The table contains one row.
    "retention/store.ts: getVersion",
    "retention/store.ts: raiseVersion",
    // The table contains one row for each kind of scan.
    "scan-store.ts: claim",
    "scan-store.ts: renew",
    "scan-store.ts: release",
    "scan-store.ts: end",
    "scan-store.ts: getProgress",
  ],
  workspaces: [
    // The table contains one row.
    "general-settings/store.ts: get",
  ],
};

test.each(Object.entries(exempt))(
  "a test examines the plan of each statement of %s",
  (service, known) => {
    const plans = [...sources(service, "test/plans/*.ts").values()].join("\n");
    expect(withoutPlanTest(sources(service, "{,*/}*store.ts"), plans).toSorted()).toEqual(
      known.toSorted(),
    );
  },
);

const store = new Map([
  [
    "tag.ts",
    `const reads = (database) => ({
       get: (id) => database.query("select 1"),
       list() { return database.query(listOfTags); },
     });
     export const listOfTags = \`select 2\`;
     async function lock(em) { await queryIn(em, "select 3 for update"); }
     const rows = (em) => ({ async remove() { await lock(em); } });
     export const tags = { reads, rows };`,
  ],
]);

test.each([
  ["nothing", "", ["get", "list", "lock"]],
  ["calls of methods", "reads.tags.get(1); tx.tags.remove();", ["list"]],
  ["names of texts", "explain(listOfTags); reads.tags.get(1);", ["lock"]],
  ["methods of another noun", "reads.tagBindings.get(1)", ["get", "list", "lock"]],
])("plan tests with %s", (_, plans, missing) => {
  expect(withoutPlanTest(store, plans)).toEqual(missing.map((name) => `tag.ts: ${name}`));
});
