import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { withoutPlanTest } from "./statements.ts";

const root = path.resolve(import.meta.dirname, "../..");

const sources = (service: string, folder: string): Map<string, string> =>
  new Map(
    globSync(`${folder}/*.ts`, { cwd: path.join(root, "services", service) }).map((file) => [
      path.basename(file),
      readFileSync(path.join(root, "services", service, file), "utf8"),
    ]),
  );

/**
 * SQL that needs no plan test, by service: its plan is always the same, because it reads a whole table or a table with
 * very few rows.
 */
const exempt: Record<string, string[]> = {
  // This function only sends the statements named `grantsOf…`, each of which has a plan test.
  access: ["grants.ts: find"],
  state: [
    // Only operators' commands that compare all rows with the store call these functions.
    "blob.ts: count",
    "contents.ts: countVersions",
    "contents.ts: listMissing",
    "contents.ts: listMiscounted",
    "current-state.ts: count",
    // These functions use two tables: one contains a single row, the other one row for each recent interruption.
    "database-heartbeat.ts: addInterruption",
    "database-heartbeat.ts: find",
    "database-heartbeat.ts: findForUpdate",
    "database-heartbeat.ts: getIdentity",
    "database-heartbeat.ts: getIdentity",
    "database-heartbeat.ts: listInterruptions",
    "database-heartbeat.ts: listInterruptions",
    "database-heartbeat.ts: put",
    "database-heartbeat.ts: removeInterruptionsBefore",
    // The table contains one row.
    "retention.ts: getVersion",
    "retention.ts: raiseVersion",
    // The table contains one row for each kind of scan.
    "scan.ts: claim",
    "scan.ts: renew",
    "scan.ts: release",
    "scan.ts: advance",
    "scan.ts: finish",
    "scan.ts: getProgress",
  ],
  workspaces: [
    // The table contains one row.
    "general-settings.ts: get",
  ],
};

test.each(Object.entries(exempt))(
  "a test examines the plan of each statement of %s",
  (service, known) => {
    const plans = [...sources(service, "test/plans").values()].join("\n");
    expect(withoutPlanTest(sources(service, "store"), plans).toSorted()).toEqual(known.toSorted());
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
