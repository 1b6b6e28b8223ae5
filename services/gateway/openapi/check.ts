import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { routes } from "../routes.ts";
import { breakingChanges } from "./breaking-changes.ts";
import { type OpenApiDocument, openApiDocument } from "./document.ts";

// npm run check:openapi: checks that docs/openapi.json describes the current routes, and that CHANGELOG.md names every
// change since origin/main that breaks clients. With --renew, writes docs/openapi.json.

const file = "docs/openapi.json";

function published(): OpenApiDocument | undefined {
  try {
    const text = execFileSync("git", ["show", `origin/main:${file}`], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 2 ** 26,
    });
    return JSON.parse(text);
  } catch {
    // There is no earlier document to compare with: this clone has no `origin/main`, or this document is the first one.
    return undefined;
  }
}

function fail(problem: string): void {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}

const document = openApiDocument(routes);
const text = `${JSON.stringify(document, null, 2)}\n`;
if (process.argv.includes("--renew")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  fail(`${file} does not describe the current routes; run "npm run openapi:renew".`);
}

const before = published();
const changes = before ? breakingChanges(before, document) : [];
const hash = createHash("sha256").update(changes.join("\n")).digest("hex").slice(0, 12);
const line = `OpenAPI change ${hash}`;
if (changes.length > 0 && !readFileSync("CHANGELOG.md", "utf8").includes(line)) {
  fail(
    `The API change breaks clients:\n  ${changes.join("\n  ")}\nMake the change compatible, or add an entry to "Breaking" of CHANGELOG.md that names: ${line}`,
  );
}
