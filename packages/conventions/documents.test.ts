import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const folder = path.join(root, "docs/adr");
const index = readFileSync(path.join(folder, "README.md"), "utf8");
const decisions = readdirSync(folder)
  .filter((file) => file !== "README.md")
  .sort();
const textOf = (file: string) => readFileSync(path.join(folder, file), "utf8");

test("the index of decisions lists every file with its number, title and status", () => {
  const rows = decisions.map((file) => {
    const [, number, title] = /^# (\d+)\. (.+)$/m.exec(textOf(file)) ?? [];
    const [, status] = /^- Status: (.+)$/m.exec(textOf(file)) ?? [];
    return `| ${number} | [${title}](${file}) | ${status} |`;
  });
  expect(index.match(/^\| \d+ \|.*$/gm)).toEqual(rows);
});

test("the index lists the numbers that are not used", () => {
  const used = new Set(decisions.map((file) => Number(file.slice(0, 4))));
  const unused = Array.from({ length: Math.max(...used) }, (_, at) => at + 1).filter(
    (number) => !used.has(number),
  );
  expect(index).toContain(`Unused numbers: ${unused.join(", ")}.`);
});

test.each(decisions)("%s follows the template and is named after its title", (file) => {
  const text = textOf(file);
  expect(text).toMatch(
    /^# \d+\. .+\n\n- Status: (superseded by ADR \d+|accepted(; (supersedes|amends|amended by) ADR \d+)*)\n- Date: \d{4}-\d\d-\d\d\n\n## Context\n[\s\S]+\n## Decision\n[\s\S]+\n## Consequences\n/,
  );
  const [, number = "", title = ""] = /^# (\d+)\. (.+)$/m.exec(text) ?? [];
  const slug = title
    .toLowerCase()
    .replaceAll("'", "")
    .replace(/[^a-z0-9]+/g, "-");
  expect(file).toBe(`${number.padStart(4, "0")}-${slug}.md`);
});

const documents = ["README.md", "CONTRIBUTING.md", ...folderOf("docs"), ...folderOf("docs/adr")];

function folderOf(name: string): string[] {
  return readdirSync(path.join(root, name))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `${name}/${file}`);
}

test.each(documents)("links in %s lead to files", (file) => {
  const text = readFileSync(path.join(root, file), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = ""]) =>
    path.resolve(root, path.dirname(file), link),
  );
  const mentioned = [...text.matchAll(/(?<![\w/])docs\/[\w/-]+\.md/g)].map(([link]) =>
    path.join(root, link),
  );
  expect([...links, ...mentioned].filter((link) => !existsSync(link))).toEqual([]);
});

test("the index of documents links to every document", () => {
  const text = readFileSync(path.join(root, "docs/README.md"), "utf8");
  const unlisted = readdirSync(path.join(root, "docs")).filter(
    (file) => file.endsWith(".md") && file !== "README.md" && !text.includes(`](${file})`),
  );
  expect(unlisted).toEqual([]);
});

const security = readFileSync(path.join(root, "docs/security.md"), "utf8");
const promises = [
  ...security
    .slice(security.indexOf("## Promises"))
    .matchAll(/^\| (?!promise|-)(.+?) \| `([^`]+)`: (.+) \|$/gm),
].map(([, promise = "", file = "", title = ""]) => ({ promise, file, title }));

test.each(promises)("docs/security.md: $promise", ({ file, title }) => {
  const source = readFileSync(path.join(root, file), "utf8");
  const titles = [...source.matchAll(/\btest(?:\.each[\s\S]*?\))?\(\s*(["'`])(.+?)\1/g)];
  expect(titles.map(([, , text]) => text)).toContain(title);
});

test("docs/security.md names every test of test/security", () => {
  const tests = readdirSync(path.join(root, "test/security")).filter((file) =>
    file.endsWith(".test.ts"),
  );
  const named = new Set(promises.map(({ file }) => path.basename(file)));
  expect(tests.filter((file) => !named.has(file))).toEqual([]);
});
