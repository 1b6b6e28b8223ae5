import { expect, test } from "vitest";
import { layoutProblems, mergeMarkers, structureProblems } from "./structure.ts";

const services = ["access", "cli", "gateway", "standalone", "state", "workspaces"];
const problemsOf = (file: string, source: string) => structureProblems(file, source, services);

test.each([
  ["services/state/blob/app.ts", 'import { b } from "../../access/user/domain.ts";'],
  ["services/state/blob/app.ts", 'export * from "../../../packages/rpc/server.ts";'],
  ["services/state/test/a.test.ts", 'import { b } from "../../../packages/rpc/b.ts";'],
  ["packages/rpc/a.ts", 'const b = await import("../events/index.ts");'],
  ["packages/rpc/a.ts", 'type B = import("../events/index.ts").B;'],
  ["test/system/a.test.ts", 'export { b } from "../../services/state/service.ts";'],
])("a relative import that leaves its package is found: %s, %s", (file, source) => {
  expect(problemsOf(file, `\n${source}`)).toEqual([
    expect.stringMatching(/^2: '.*' leads to another package; import it by its name/),
  ]);
});

test.each([
  ["services/state/clients/access.ts", "@statehouse/access/service", "is another service"],
  ["services/gateway/blob/routes.ts", "@statehouse/state/errors-domain", "is another service"],
  ["packages/service/a.ts", "@statehouse/access", "is a service; packages must not"],
])("an import of a service is found: %s, %s", (file, from, problem) => {
  expect(problemsOf(file, `import { b } from "${from}";`)).toEqual([
    expect.stringContaining(problem),
  ]);
});

test.each([
  ["services/state/blob/app.ts", 'import { b } from "./domain.ts";'],
  ["services/state/blob/app.ts", 'import { b } from "@statehouse/rpc";'],
  ["services/state/blob/app.ts", 'import { b } from "@statehouse/state/blob/domain";'],
  ["services/cli/commands.ts", 'const a = () => import("@statehouse/access/service");'],
  ["services/standalone/compose.ts", 'import { a } from "@statehouse/access/service";'],
  ["services/state/test/a.test.ts", 'import { a } from "@statehouse/access/service";'],
  ["test/system/a.test.ts", 'import { a } from "../stack/http.ts";'],
])("other imports are not: %s, %s", (file, source) => {
  expect(problemsOf(file, source)).toEqual([]);
});

test("a cast is found in the layers that need none", () => {
  expect(problemsOf("services/state/blob/app.ts", "const a = b as C;")).toEqual([
    "1: a cast; casts belong to rpc and store.",
  ]);
  expect(problemsOf("services/state/blob/store.ts", "const a = b as C;")).toEqual([]);
  expect(problemsOf("services/state/blob/app.ts", "const a = [1] as const;")).toEqual([]);
  expect(problemsOf("services/state/blob/app.ts", "const a = Object.keys(b) as C[];")).toEqual([]);
});

test("a marker of an unresolved merge is found, in comments too", () => {
  const side = (mark: string) => mark.repeat(7);
  const text = `/*\n${side("<")} HEAD\na\n${side("=")}\nb\n${side(">")} topic\n*/\n`;
  expect(mergeMarkers(text)).toEqual([2, 4, 6]);
  expect(mergeMarkers("a\n==========\n<<<<<<<\n")).toEqual([]);
});

test("a service without a file of the one layout, and files without a role or layer, are found", () => {
  const complete = [
    ...["app.ts", "bindings-rpc.ts", "clients-app.ts", "config.ts", "create-app.ts"],
    ...["errors-domain.ts", "ids-domain.ts", "ids-rpc.ts", "migrations.ts", "nouns.ts"],
    ...["service.ts", "migrations/0001_init.sql"],
  ].map((file) => `services/state/${file}`);
  expect(layoutProblems(complete)).toEqual([]);
  expect(
    layoutProblems([
      ...complete.filter((file) => !file.endsWith("bindings-rpc.ts")),
      "services/state/migrations/0002_blobs.ts",
      "services/state/blob/sweeper.ts",
      "packages/rpc/utils/text.ts",
    ]),
  ).toEqual([
    "services/state/bindings-rpc.ts is missing; every service with a database has it.",
    expect.stringMatching(
      /^services\/state\/blob\/sweeper.ts: its name states no layer; .* domain,/,
    ),
    "packages/rpc/utils/text.ts: util, helper, common and shared are not allowed as names; name it after what it contains.",
    "services/state/migrations/0002_blobs.ts is not SQL; migrations/ contains only <name>.sql.",
  ]);
});
