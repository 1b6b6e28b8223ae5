import path from "node:path";
import { type ESTree, parseSync, Visitor } from "rolldown/utils";

const isTest = (file: string) => /(^|\/)(test|testing)\/|\.test\.\w+$/.test(file);

/** The workspace that contains the file: `packages/rpc`, `services/state`, `test`. */
const workspaceOf = (file: string) => /^(?:packages|services)\/[^/]+|^[^/]+/.exec(file)?.[0] ?? "";

/** These compose the services; every other service reaches its siblings through gRPC. */
const composing = ["services/cli", "services/standalone"];

/** The layers without casts; types of rpc and store come from messages and rows. */
const withoutCasts = /^services\/[^/]+\/(?:domain|app|clients|consumers|workers)\//;

/**
 * What a script does against the structure of the tree, as `line: problem`. `file` is relative to the root; `services`
 * are the names of the services.
 */
export function structureProblems(
  file: string,
  source: string,
  services: readonly string[],
): string[] {
  const own = workspaceOf(file);
  const found: { start: number; problem: string }[] = [];
  const add = (node: { start: number }, problem: string) =>
    found.push({ start: node.start, problem });

  const checkImport = (from: { start: number; value: unknown }) => {
    if (typeof from.value !== "string") return;
    // vitest.config.ts at the root composes packages, which depend on nothing of the root.
    if (from.value.startsWith(".") && file.includes("/")) {
      const target = workspaceOf(path.posix.join(path.posix.dirname(file), from.value));
      if (target !== own) {
        add(
          from,
          `'${from.value}' leads to another package; import it by its name (@statehouse/…).`,
        );
      }
    }
    const [, name = ""] = /^@statehouse\/([^/]+)/.exec(from.value) ?? [];
    if (!services.includes(name) || isTest(file)) return;
    const target = `services/${name}`;
    if (own.startsWith("packages/"))
      add(from, `'${from.value}' is a service; a package serves services and imports none.`);
    if (own.startsWith("services/") && target !== own && !composing.includes(own))
      add(from, `'${from.value}' is another service; call it through gRPC (clients/).`);
  };

  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  new Visitor({
    ImportDeclaration: ({ source: from }) => checkImport(from),
    ExportAllDeclaration: ({ source: from }) => checkImport(from),
    ExportNamedDeclaration({ source: from }) {
      if (from) checkImport(from);
    },
    ImportExpression({ source: from }) {
      if (from.type === "Literal") checkImport(from);
    },
    TSImportType: ({ source: from }) => checkImport(from),
    TSAsExpression(node) {
      if (withoutCasts.test(file) && !isTest(file) && !isConst(node) && !isKeys(node))
        add(node, "a cast; casts belong to rpc and store.");
    },
  }).visit(program);
  return found.map(
    ({ start, problem }) => `${source.slice(0, start).split("\n").length}: ${problem}`,
  );
}

const isConst = ({ typeAnnotation }: ESTree.TSAsExpression) =>
  typeAnnotation.type === "TSTypeReference" &&
  typeAnnotation.typeName.type === "Identifier" &&
  typeAnnotation.typeName.name === "const";

/** `Object.keys(table) as (keyof typeof table)[]`, which TypeScript types no other way. */
const isKeys = ({ expression }: ESTree.TSAsExpression) =>
  expression.type === "CallExpression" &&
  expression.callee.type === "MemberExpression" &&
  expression.callee.object.type === "Identifier" &&
  expression.callee.object.name === "Object" &&
  expression.callee.property.type === "Identifier" &&
  expression.callee.property.name === "keys";

/** The lines with a marker of an unresolved merge; a compiler accepts them in a block comment. */
export const mergeMarkers = (text: string): number[] =>
  text
    .split("\n")
    .flatMap((line, index) => (/^(?:<{7}|>{7}|\|{7}) |^={7}$/.test(line) ? [index + 1] : []));

/** The files that every service with a database has: CONTRIBUTING.md, "One design for each role". */
const filesOfService = [
  "app/clients.ts",
  "config.ts",
  "create-app.ts",
  "domain/errors.ts",
  "domain/ids.ts",
  "rpc/bindings.ts",
  "rpc/ids.ts",
  "service.ts",
  "store/nouns.ts",
];

/** Where files of services are missing, or stand in a folder that has no role. `files` are all tracked ones. */
export function layoutProblems(files: readonly string[]): string[] {
  const all = new Set(files);
  const services = new Set(
    files.flatMap((file) => /^services\/[^/]+(?=\/store\/)/.exec(file)?.[0] ?? []),
  );
  const missing = [...services].flatMap((service) =>
    filesOfService
      .map((file) => `${service}/${file}`)
      .filter((file) => !all.has(file))
      .map((file) => `${file} is missing; every service with a database has it.`),
  );
  const misplaced = files
    .filter((file) => /(^|\/)(?:utils?|helpers?|common)(\/|\.ts$)/.test(file))
    .map((file) => `${file} is named after no role; name it after what it contains.`);
  const migrations = files
    .filter((file) => /^services\/[^/]+\/store\/migrations\/(?!.*\.sql$)/.test(file))
    .map((file) => `${file} is not SQL; store/migrations contains only <name>.sql.`);
  return [...missing, ...misplaced, ...migrations];
}
