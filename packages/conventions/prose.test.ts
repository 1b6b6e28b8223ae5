import { expect, test } from "vitest";
import { lint } from "./lint.ts";

const script = (text: string) => lint("services/state/example/app.ts", text);

test.each([
  ["a comment", "example.ts", "// The relay tells\n// the consumers.\n", "tells"],
  ["a comment of a declaration", "example.ts", "/**\n * Mends the row.\n */\nlet a = 1;", "Mends"],
  ["a log message", "example.ts", 'logger.warn({ id }, "nobody answers");', "nobody"],
  [
    "an error's text",
    "example.ts",
    "invalid([{ field, detail: `\u0024{name} is no level` }]);",
    "is no",
  ],
  [
    "an error of a test",
    "example.test.ts",
    'throw new Error("the neighbour is down");',
    "neighbour",
  ],
  ["a test's title", "example.test.ts", 'test("a stranger gets 404", () => {});', "stranger"],
  ["a suite's title", "example.test.ts", 'describe.each([1])("told %i times", () => {});', "told"],
  ["a comment in protobuf", "example.proto", "// Kept for\n// ever.\nmessage A {}", "for ever"],
  ["a comment in YAML", "example.yml", "on: push # for everybody\n", "everybody"],
  ["an identifier", "example.ts", "const letGo = 1;", "let Go"],
  ["a member", "example.ts", "interface A { lastNews?: string }", "News"],
  ["a constant", "example.test.ts", "const WHOLE_PASS = 1;", "WHOLE PASS"],
  ["a file's name", "use-stranger.py", "", "stranger"],
  ["Markdown", "example.md", "# Title\n\nState hears\nof a move.\n", "hears"],
])("reports a forbidden word in %s", (_, file, text, found) => {
  expect(lint(file, text)).toEqual([expect.objectContaining({ found })]);
});

test("a finding names the line, the replacement and the reason", () => {
  expect(script("let a = 1;\n\n/* A row. It is\n   parked. */\n")).toEqual([
    {
      place: "services/state/example/app.ts:4",
      kind: "comment",
      found: "parked",
      replacement: "store as a dead letter",
      reason: "glossary: dead letter",
    },
  ]);
});

test("reports a repeated word", () => {
  expect(script("// Locks the the workspace.\n")).toEqual([
    expect.objectContaining({ found: "the the" }),
  ]);
});

test.each([
  ["code in comments", "const user = 1; // Uses `nobody`.\n"],
  ["longer names", "const header = roadmap.heartbeat;"],
  ["names of libraries", 'import { tell } from "library";\ntell(a.told);'],
  ["longer words", "// The header, the heartbeat and the retell.\n"],
  ["values that are not prose", 'const a = { "told": "nobody" };'],
  ["SQL", "sql`select told from heard where nobody is no`;"],
  ["paths", "// See app/neighbour.ts.\n"],
  ["ordinary negation", "// There is no lock; it is no longer held.\n"],
])("accepts %s", (_, text) => {
  expect(script(text)).toEqual([]);
});

test("accepts code and links in Markdown", () => {
  expect(lint("a.md", "```\ntell\n```\n\n[Runs](docs/tell.md), `nobody`.\n")).toEqual([]);
});

test("accepts messages that clients match", () => {
  expect(script("// Create while nobody holds the lock: 412.\n")).toEqual([]);
});
