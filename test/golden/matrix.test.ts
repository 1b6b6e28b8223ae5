import { credentialTypes } from "@statehouse/gateway/http/authentication";
import { routes } from "@statehouse/gateway/routes";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { type Stack, startStack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { newUser } from "../system/fixture.ts";
import { withoutRecord } from "./matrix/audit.ts";
import { type Cell, callRow, expectedStatus } from "./matrix/call.ts";
import { roles } from "./matrix/callers.ts";
import "./proves-routes.ts";
import { type MatrixFixture, newMatrixFixture } from "./matrix/fixture.ts";
import { compareList, lists, surveyOf, wholeLists } from "./matrix/lists.ts";
import { prepareCaller, prepareCallerApart } from "./matrix/prepare-caller.ts";
import type { PreparedCaller } from "./matrix/prepared-caller.ts";
import type { Row } from "./matrix/row.ts";
import { rowGroups, rows } from "./matrix/rows.ts";
import { type Line, matrixText } from "./matrix/table.ts";

/** Number of callers that make their calls concurrently. */
const LANES = 6;
/** Time limit of each test on a busy machine, in ms; two idle cores need a fraction of it. */
const PATIENCE = 900_000;

/** The rows of the specification that the authorization matrix as a whole proves. */
const provedRows = [
  "Team project implied permissions/effective access",
  "Authentication/1 viewing workspaces",
  "Authentication/2 changing settings, force-unlocking",
  "Authentication/3 lock and unlock",
  "Authentication/4 creating a workspace",
  "Authentication/5 force delete",
  "Authentication/6 replacing all remote state consumers",
  "Authentication/7 create state version, rollback",
  "Authentication/8 list, fetch, show state versions",
  "Authentication/9 soft delete, restore, permanently delete",
  "Teams and users/teams: each organization-access flag",
];

const preface = `# The authorization matrix: the statuses of the responses to each caller of the test, which has called every route of
# the product. Each table has a row for each route, or for each case of a route, and a column for the callers that
# received the same statuses in all rows of the table. A dot is 404: the object does not exist, or the caller is not
# allowed to read it. 401: the token is not valid, or the organization does not accept it. A dash: the row does not
# apply to the caller. Unless a row says otherwise, its object belongs to another user or team, in a project and a
# workspace on which the caller has exactly the role in its name. "project" and "workspace" in a name: the role of a
# team on a project or on a workspace.
#
# After this file was written again, compare its differences with the specification: CONTRIBUTING.md, "The matrix".
`;

let stack: Stack;
let fixture: MatrixFixture;
let preparedCallers: PreparedCaller[];
const cells = new Map<Row, Map<string, Cell | undefined>>(rows.map((row) => [row, new Map()]));

/** Processes at most `lanes` items concurrently; returns the results in the order of the items. */
async function inLanes<Item, Result>(
  lanes: number,
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.map((item, index) => ({ item, index }));
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      results[next.index] = await work(next.item);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

/** Makes the calls of all rows with this `pass`, as each of the callers. */
async function callAll(pass: Row["pass"]): Promise<void> {
  const lanes = pass === "alone" ? 1 : LANES;
  // Finishes each group of rows before the next, so that the services can use cached grants during groups whose calls
  // change neither teams nor grants.
  for (const group of Object.values(rowGroups)) {
    const ofPass = group.filter((row) => row.pass === pass);
    await inLanes(lanes, preparedCallers, async (prepared) => {
      for (const row of ofPass) {
        cells.get(row)?.set(prepared.caller.name, await callRow(row, prepared));
      }
    });
  }
}

/**
 * Makes the calls that delete the organization or change its token. Calls that should succeed use a separate
 * organization, because all other callers still need the shared one.
 */
async function callApart(prepared: PreparedCaller, role: (typeof roles)[number]): Promise<void> {
  for (const row of rows.filter(({ pass }) => pass === "apart")) {
    const [status = 0] = expectedStatus(row, prepared);
    const chosen = status < 300 ? await prepareCallerApart(fixture, role) : prepared;
    cells.get(row)?.set(prepared.caller.name, await callRow(row, chosen));
  }
}

const lineOf = (row: Row): Line => ({
  name: `${row.route}${row.note ? ` (${row.note})` : ""}`,
  cells: new Map([...(cells.get(row) ?? [])].map(([caller, cell]) => [caller, cell?.status])),
});

beforeAll(async () => {
  stack = await startStack({ settings: { TRUSTED_PROXIES: "127.0.0.1" } });
  const administrator = await newUser(stack, { administrator: true });
  fixture = await newMatrixFixture(stack, administrator);
  preparedCallers = await inLanes(LANES, roles, (role) => prepareCaller(fixture, role));
}, PATIENCE);
afterAll(() => stack?.[Symbol.asyncDispose]());

test("the matrix has a row for every route and a column for every kind of credential", () => {
  const known = new Set(rows.map(({ route }) => route));
  const missing = routes
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => !known.has(route));
  expect(missing, "give each a row in test/golden/matrix").toEqual([]);
  const types = new Set(preparedCallers.map(({ caller }) => caller.type));
  for (const type of credentialTypes) expect(types).toContain(type);
});

test(
  "lists contain all readable items and no others",
  async () => {
    const everything = await surveyOf(fixture);
    const differences = await inLanes(LANES, preparedCallers, async (prepared) => {
      const found: string[] = [];
      for (const list of lists) {
        const compared = await compareList(list, prepared, everything);
        if (!compared) continue;
        const [seen, expected] = [new Set(compared.seen), new Set(compared.expected)];
        const wrong = [
          ...seen
            .difference(expected)
            .values()
            .map((id) => `shows ${id}`),
          ...expected
            .difference(seen)
            .values()
            .map((id) => `hides ${id}`),
        ];
        if (wrong.length > 0)
          found.push(`${prepared.caller.name}: ${list.route}: ${wrong.join(", ")}`);
      }
      return found;
    });
    expect(differences.flat()).toEqual([]);
  },
  PATIENCE,
);

describe("role × route", () => {
  beforeAll(async () => {
    await callAll("together");
    await callAll("alone");
    await inLanes(LANES, roles, async (role) => {
      const prepared = preparedCallers[roles.indexOf(role)];
      if (prepared) await callApart(prepared, role);
    });
    const path = `/organizations/${fixture.organization}`;
    const allow = document("organizations", { "allow-force-delete-workspaces": true });
    await expectStatus(200, fixture.owner.api.patch(path, allow));
    await callAll("forced");
    await callAll("last");
  }, PATIENCE);

  test("matches the golden matrix", async () => {
    proves(...provedRows);
    const groups = Object.entries(rowGroups).map(
      ([title, members]) => [title, members.map(lineOf)] as const,
    );
    const names = preparedCallers.map(({ caller }) => caller.name);
    const text = matrixText(preface, names, new Map(groups));
    await expect(text).toMatchFileSnapshot("./matrix.golden.txt");
  });

  test("returns lists that contain exactly the readable items", () => {
    const known = new Set([...lists.map(({ route }) => route), ...wholeLists]);
    const unknown = [...cells]
      .filter(([{ route }, by]) => by.values().some((cell) => cell?.list) && !known.has(route))
      .map(([{ route }]) => route);
    expect(unknown, "declare in test/golden/matrix/lists.ts which items a caller sees").toEqual([]);
  });

  test("leaves a record of every change, read of state and refusal", async () => {
    const authenticated = new Map(
      preparedCallers.map(({ caller }) => [caller.name, caller.type !== undefined]),
    );
    const calls = [...cells].flatMap(([row, by]) =>
      [...by].flatMap(([caller, cell]) =>
        cell ? [{ row, cell, authenticated: authenticated.get(caller) ?? false }] : [],
      ),
    );
    await expect.poll(() => withoutRecord(stack, calls)).toEqual({ changes: [], refusals: [] });
  });

  test("matches the decision of packages/authorization", () => {
    proves(...provedRows);
    const differences = rows.flatMap((row) =>
      [...(cells.get(row) ?? [])].flatMap(([caller, cell]) =>
        cell && !cell.expected.includes(cell.status)
          ? [`${row.route} (${row.note}) ${caller}: ${cell.status}, not ${cell.expected}`]
          : [],
      ),
    );
    expect(differences).toEqual([]);
  });
});
