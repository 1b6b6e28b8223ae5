import path from "node:path";
import { parseSync, Visitor } from "rolldown/utils";
import { hasLayers, layerOf, unnamedLayer } from "./layers.ts";

const isTest = (file: string) => /(^|\/)(test|testing)\/|\.test\.\w+$/.test(file);

/** Returns the npm workspace that contains the file: `packages/rpc`, `services/state`, `test`. */
const workspaceOf = (file: string) => /^(?:packages|services)\/[^/]+|^[^/]+/.exec(file)?.[0] ?? "";

/**
 * The packages that start services in their own process and therefore may import services. All other services call each
 * other through gRPC.
 */
const composing = ["services/cli", "services/standalone"];

/** The layers in which casts are forbidden. Casts belong to rpc and store, where types come from messages and rows. */
const withoutCasts: ReadonlySet<string | undefined> = new Set([
  "domain",
  "app",
  "clients",
  "consumer",
  "worker",
]);

// Not dependency-cruiser: it reads TypeScript with the compiler API of version 6 or older, which TypeScript 7 lacks.
/**
 * Returns the structure rules that a script breaks, as `line: problem`. `file` is relative to the root; `services` are
 * the names of the services.
 */
export function structureProblems(
  file: string,
  source: string,
  services: readonly string[],
): string[] {
  const own = workspaceOf(file);
  const forbidsCasts = withoutCasts.has(layerOf(file)?.layer) && !isTest(file);
  const found: { start: number; problem: string }[] = [];
  const add = (node: { start: number }, problem: string) =>
    found.push({ start: node.start, problem });

  const textOf = (node: { start: number; end: number }) => source.slice(node.start, node.end);
  const checkImport = (from: { start: number; value: unknown }) => {
    if (typeof from.value !== "string") return;
    // Files in the root folder are exempt: vitest.config.ts imports packages by relative paths, and no package imports
    // it.
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
      add(from, `'${from.value}' is a service; packages must not import services.`);
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
    TSAsExpression({ start, expression, typeAnnotation }) {
      const isConst = textOf(typeAnnotation) === "const";
      // TypeScript cannot type `Object.keys(table) as (keyof typeof table)[]` without a cast.
      const isKeys = /^Object\.keys\([^()]*\)$/.test(textOf(expression));
      if (forbidsCasts && !isConst && !isKeys)
        add({ start }, "a cast; casts belong to rpc and store.");
    },
  }).visit(program);
  return found.map(
    ({ start, problem }) => `${source.slice(0, start).split("\n").length}: ${problem}`,
  );
}

/**
 * Returns the numbers of the lines that contain a marker of an unresolved merge. Compilers do not report such markers
 * in block comments.
 */
export const mergeMarkers = (text: string): number[] =>
  text
    .split("\n")
    .flatMap((line, index) => (/^(?:<{7}|>{7}|\|{7}) |^={7}$/.test(line) ? [index + 1] : []));

/** The files that every service with a database must have, according to CONTRIBUTING.md, "One design for each role". */
const filesOfService = [
  "app.ts",
  "bindings-rpc.ts",
  "clients-app.ts",
  "config.ts",
  "create-app.ts",
  "errors-domain.ts",
  "ids-domain.ts",
  "ids-rpc.ts",
  "migrations.ts",
  "nouns.ts",
  "service.ts",
];

/**
 * Reports missing files of services, source files of services whose names state no layer, files and folders whose names
 * do not describe their content, and migrations that are not SQL. `files` are all tracked files.
 */
export function layoutProblems(files: readonly string[]): string[] {
  const all = new Set(files);
  const services = new Set(
    files.flatMap((file) => /^services\/[^/]+(?=\/migrations\/)/.exec(file)?.[0] ?? []),
  );
  const missing = [...services].flatMap((service) =>
    filesOfService
      .map((file) => `${service}/${file}`)
      .filter((file) => !all.has(file))
      .map((file) => `${file} is missing; every service with a database has it.`),
  );
  const unnamed = files
    .filter((file) => hasLayers(file) && file.endsWith(".ts") && !layerOf(file))
    .map((file) => `${file}: ${unnamedLayer(file)}`);
  const misplaced = files
    .filter((file) => /(^|\/)(?:utils?|helpers?|common|shared)(\/|\.ts$)/.test(file))
    .map(
      (file) =>
        `${file}: util, helper, common and shared are not allowed as names; name it after what it contains.`,
    );
  const migrations = files
    .filter((file) => /^services\/[^/]+\/migrations\/(?!.*\.sql$)/.test(file))
    .map((file) => `${file} is not SQL; migrations/ contains only <name>.sql.`);
  return [...missing, ...unnamed, ...misplaced, ...migrations];
}
