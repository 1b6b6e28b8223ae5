import path from "node:path";
import { parseSync } from "rolldown/utils";

/** Where a source file of a service belongs, according to CONTRIBUTING.md, "The layers". */
interface FileLayer {
  service: string;
  /** The folder of a noun, or the name of a root file, which belongs to several nouns. */
  noun: string;
  /** The last word of the file's name, or the name of a folder that is one layer. */
  layer: string;
}

/** The layers that the name of a file can end with. */
const withDatabase = ["domain", "store", "app", "rpc", "http", "consumer", "worker", "command"];
const layers: Readonly<Record<string, readonly string[]>> = {
  access: withDatabase,
  gateway: ["resource", "routes"],
  state: withDatabase,
  workspaces: withDatabase,
};

/** Folders that contain one layer, in which names are free. */
const folders: ReadonlySet<string> = new Set([
  "clients",
  "http",
  "jsonapi",
  "migrations",
  "openapi",
  "test",
]);

/** Root files that compose a service, with their layers. */
const rootFiles: ReadonlyMap<string, string> = new Map([
  ["app.ts", "app"],
  ["config.ts", "service"],
  ["create-app.ts", "service"],
  ["migrations.ts", "store"],
  ["nouns.ts", "store"],
  ["routes.ts", "routes"],
  ["service.ts", "service"],
]);

const partsOf = (file: string) => /^services\/([^/]+)\/(.+)$/.exec(file)?.slice(1) ?? [];

/** Returns whether the file belongs to a service that consists of nouns and layers. */
export const hasLayers = (file: string): boolean => (partsOf(file)[0] ?? "") in layers;

export const unnamedLayer = (file: string): string =>
  `its name states no layer; move the file to the folder of its noun, or to the service's folder if it belongs to several nouns, and end its name with one of ${layers[partsOf(file)[0] ?? ""]?.join(", ")}.`;

/** Returns the place of a source file or a test, or undefined if the file's path does not state it. */
export function layerOf(file: string): FileLayer | undefined {
  const [service = "", rest = ""] = partsOf(file);
  const name = rest.replace(/(?:\.property)?\.test\.ts$/, ".ts");
  const [folder = "", ...inFolder] = name.split("/");
  if (inFolder.length > 0 && folders.has(folder)) return { service, noun: folder, layer: folder };
  const composing = rootFiles.get(name);
  if (composing) return { service, noun: name, layer: composing };
  const stated = /^(?:([a-z0-9-]+)\/(?:[a-z0-9-]+-)?|[a-z0-9-]+-)([a-z]+)\.ts$/.exec(name);
  const [, noun = name, layer = ""] = stated ?? [];
  return layers[service]?.includes(layer) ? { service, noun, layer } : undefined;
}

/** Returns the files of the same package that a script imports. */
function importsOf(file: string, source: string): string[] {
  const { staticImports, staticExports } = parseSync(file, source).module;
  return [...staticImports, ...staticExports.flatMap(({ entries }) => entries)].flatMap(
    ({ moduleRequest: from }) =>
      from?.value.startsWith(".") ? [path.posix.join(path.posix.dirname(file), from.value)] : [],
  );
}

/**
 * Returns the cycles between the nouns of a layer, such as `services/state, store: a → b → a`. Between layers nouns may
 * depend on each other: the workspace contains its lock, and the use cases of locks load the workspace. `sources` are
 * the scripts by path, without tests.
 */
export function nounCycles(sources: ReadonlyMap<string, string>): string[] {
  const imports = new Map<string, Set<string>>();
  for (const [file, source] of sources) {
    const from = layerOf(file);
    if (!from) continue;
    for (const imported of importsOf(file, source)) {
      const to = layerOf(imported);
      if (!to || to.layer !== from.layer || to.noun === from.noun) continue;
      const key = `services/${from.service}, ${from.layer}: ${from.noun}`;
      const known = imports.get(key) ?? new Set();
      imports.set(key, known.add(`services/${to.service}, ${to.layer}: ${to.noun}`));
    }
  }
  const cycles = new Set<string>();
  const done = new Set<string>();
  const visit = (noun: string, path: readonly string[]): void => {
    const start = path.indexOf(noun);
    if (start >= 0) {
      const names = [...path.slice(start + 1), noun].map((key) => key.replace(/^.*: /, ""));
      cycles.add([path[start], ...names].join(" → "));
    } else if (!done.has(noun)) {
      for (const next of imports.get(noun) ?? []) visit(next, [...path, noun]);
      done.add(noun);
    }
  };
  for (const noun of imports.keys()) visit(noun, []);
  return [...cycles];
}
