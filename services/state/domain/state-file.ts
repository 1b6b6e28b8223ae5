import { isExactNumber, parseExactJson } from "./exact-json.ts";
import type { Extraction, ResourceCounts, StateResource } from "./extraction.ts";
import { outputsFrom } from "./output.ts";
import { storable } from "./storable-text.ts";

/** The content is no state that anybody could read; trying again gives the same. */
export class StateFileError extends Error {
  override readonly name: string = "StateFileError";
}

/** Time or memory did not suffice: perhaps they do later, and a few attempts are enough to know. */
export class StateReadingError extends StateFileError {
  override readonly name = "StateReadingError";
}

type JsonObject = Record<string, unknown>;

/**
 * What a raw state holds. Formats that nobody here can look into (encrypted, unknown versions) give an
 * empty extraction that says why. Throws `StateFileError` on what is no state at all.
 */
export function extractStateFile(text: string): Extraction {
  const file = parse(text);
  if ("encrypted_data" in file) return { ...nothingOf(file), opaque: "the state is encrypted" };
  switch (integer(file.version)) {
    case 4n:
      return { ...nothingOf(file), ...resourcesOf(instancesOfVersion4(file)), ...outputsOf(file) };
    case 3n:
      return {
        ...nothingOf(file),
        ...resourcesOf(instancesOfVersion3(file)),
        ...outputsOf(rootOfVersion3(file)),
      };
    default:
      return { ...nothingOf(file), opaque: "the state has a format that is not known here" };
  }
}

function parse(text: string): JsonObject {
  let file: unknown;
  try {
    file = JSON.parse(text);
    // Keeping numbers exact takes many times longer, and only the values of outputs are passed on.
    if (isObject(file) && holdsNumbers(file.outputs ?? file.modules)) file = parseExactJson(text);
  } catch {
    // The parser's own message quotes the state.
    throw new StateFileError("the state is not JSON");
  }
  if (!isObject(file)) throw new StateFileError("the state is not a JSON object");
  return file;
}

function holdsNumbers(value: unknown): boolean {
  if (typeof value === "number") return true;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(holdsNumbers);
}

/** Larger ones are no format that anybody will ever have; columns and messages hold 32 bits. */
const MAX_FORMAT = 2n ** 31n - 1n;

/** What every format says about itself. */
function nothingOf(file: JsonObject): Extraction {
  const version = integer(file.version);
  return {
    serial: integer(file.serial),
    lineage: string(file.lineage),
    formatVersion: version === null || version > MAX_FORMAT ? null : Number(version),
    engineVersion: string(file.terraform_version),
    resources: [],
    modules: {},
    providers: {},
    outputs: [],
    opaque: null,
  };
}

function outputsOf(holder: JsonObject): Pick<Extraction, "outputs"> {
  const outputs = outputsFrom(holder.outputs ?? {});
  if (!outputs) throw new StateFileError("an output of the state has no readable form");
  return { outputs };
}

/** A resource as a format spells it, before it is counted. */
interface FoundResource extends StateResource {
  managed: boolean;
}

/** Counts by module and by provider show data sources, too; the resources are the managed ones. */
function resourcesOf(
  found: readonly FoundResource[],
): Pick<Extraction, "resources" | "modules" | "providers"> {
  const modules = new Counts();
  const providers = new Counts();
  const resources: StateResource[] = [];
  for (const { managed, ...resource } of found) {
    if (resource.count === 0) continue;
    const type = `${managed ? "" : "data."}${resource.type.replaceAll("_", "-")}`;
    modules.add(resource.module, type, resource.count);
    if (resource.provider !== "") providers.add(resource.provider, type, resource.count);
    if (managed) resources.push(resource);
  }
  return { resources, modules: modules.toObject(), providers: providers.toObject() };
}

/** How many of each type, by group. Names come from the file, so `__proto__` is a key like any other. */
class Counts {
  readonly #groups = new Map<string, Map<string, number>>();

  add(group: string, type: string, count: number): void {
    const types = this.#groups.get(group) ?? new Map<string, number>();
    this.#groups.set(group, types.set(type, (types.get(type) ?? 0) + count));
  }

  toObject(): ResourceCounts {
    return Object.fromEntries(
      Array.from(this.#groups, ([group, types]) => [group, Object.fromEntries(types)]),
    );
  }
}

function instancesOfVersion4(file: JsonObject): FoundResource[] {
  return list(file.resources, "resources").map((resource) => {
    if (!isObject(resource)) throw new StateFileError("a resource of the state is not an object");
    return {
      name: string(resource.name) ?? "",
      type: string(resource.type) ?? "",
      count: list(resource.instances, "instances").length,
      module: string(resource.module) ?? "root",
      provider: string(resource.provider) ?? "",
      managed: resource.mode !== "data",
    };
  });
}

/** Format 3 keys every instance by its address: `aws_instance.web.0`, `data.aws_ami.base`. */
function instancesOfVersion3(file: JsonObject): FoundResource[] {
  return list(file.modules, "modules").flatMap((module) => {
    if (!isObject(module)) throw new StateFileError("a module of the state is not an object");
    const path = list(module.path, "path").map((part) => string(part) ?? "");
    const address = path.slice(1).map((name) => `module.${name}`);
    const byName = new Map<string, FoundResource>();
    for (const [key, instance] of Object.entries(
      isObject(module.resources) ? module.resources : {},
    )) {
      const parts = storable(key).split(".");
      const managed = parts[0] !== "data";
      const [type = "", name = ""] = managed ? parts : parts.slice(1);
      const id = `${managed} ${type}.${name}`;
      const known = byName.get(id);
      if (known) known.count += 1;
      else {
        byName.set(id, {
          name,
          type,
          count: 1,
          module: address.length === 0 ? "root" : address.join("."),
          provider: (isObject(instance) ? string(instance.provider) : null) ?? "",
          managed,
        });
      }
    }
    return [...byName.values()];
  });
}

function rootOfVersion3(file: JsonObject): JsonObject {
  const root = list(file.modules, "modules").find(
    (module) => isObject(module) && list(module.path, "path").length <= 1,
  );
  if (!isObject(root) || !isObject(root.outputs)) return {};
  // Its types (`map`, `list`) say nothing of what is inside; those of the values do.
  const outputs = Object.entries(root.outputs).map(([name, output]) => {
    if (!isObject(output)) return [name, output] as const;
    const { type: _, ...untyped } = output;
    return [name, untyped] as const;
  });
  return { outputs: Object.fromEntries(outputs) };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);

const string = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? storable(value) : null;

function integer(value: unknown): bigint | null {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : null;
  const text = isExactNumber(value) ? JSON.stringify(value) : "";
  return /^-?\d{1,20}$/.test(text) ? BigInt(text) : null;
}

function list(value: unknown, name: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new StateFileError(`the state's ${name} are not a list`);
}
