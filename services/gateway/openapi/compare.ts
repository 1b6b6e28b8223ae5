import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { routes } from "../routes.ts";
import { namesOf } from "./compared.ts";
import { openApiDocument } from "./document.ts";
import { matches, readNotServed } from "./not-served.ts";

// Compares another OpenAPI document, the file that the first argument names, with the document of this product: its
// operations, parameters, attributes, relationships and links. Fails if this product does not serve a name of the other
// document and not-served.txt does not list the name with a reason, or if a line of not-served.txt is not needed.

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write("usage: npm run openapi:compare -- <OpenAPI document in JSON>\n");
  process.exitCode = 2;
} else compareWith(file);

function compareWith(file: string): void {
  const reference = namesOf(JSON.parse(readFileSync(file, "utf8")));
  const own = namesOf(openApiDocument(routes));
  const list = readNotServed(
    readFileSync(path.join(import.meta.dirname, "not-served.txt"), "utf8"),
  );
  const problems: string[] = [];
  const used = new Set<string>();
  const count = (what: string, names: readonly string[], served: ReadonlySet<string>) => {
    const missing = names.filter((name) => !served.has(name));
    let reasons = 0;
    for (const name of missing) {
      const listed = list.filter((line) => matches(line, name));
      for (const { pattern } of listed) used.add(pattern);
      if (listed.length > 0) reasons += 1;
      else problems.push(`neither served nor in not-served.txt: ${name}`);
    }
    process.stdout.write(
      `${what}: ${names.length - missing.length} of ${names.length} served, ${reasons} not served with a reason, ${missing.length - reasons} without one\n`,
    );
  };
  const all = [...reference.operations];
  const isParameter = (name: string) => name.includes(" ?");
  count(
    "operations",
    all.filter((name) => !isParameter(name)),
    own.operations,
  );
  count("query parameters and includes", all.filter(isParameter), own.operations);
  for (const section of ["attributes", "relationships", "links"]) {
    const members = [...reference.members].filter((name) => name.includes(` ${section}.`));
    count(section, members, own.members);
  }
  for (const { pattern } of list) {
    if (!used.has(pattern))
      problems.push(`in not-served.txt, but served or not in ${file}: ${pattern}`);
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
}
