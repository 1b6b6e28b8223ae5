import { isExactNumber, parseExactJson } from "./exact-json.ts";
import type { Extraction, ResourceCounts, ResourceInstance, StateResource } from "./extraction.ts";
import { outputsFrom } from "./output.ts";
import { type FoundResource, instancesOf, isBillable } from "./resource-instance.ts";
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
type Inventory = Pick<
  Extraction,
  "resources" | "modules" | "providers" | "resourceCount" | "billableCount" | "instances"
>;

/**
 * What a raw state holds. Formats that nobody here can look into (encrypted, unknown versions) give an
 * empty extraction that says why. Throws `StateFileError` on what is no state at all.
 */
export function extractStateFile(text: string): Extraction {
  const file = parse(text);
  if ("encrypted_data" in file) return { ...nothingOf(file), opaque: "the state is encrypted" };
  switch (integer(file.version)) {
    case 4n:
      return { ...nothingOf(file), ...resourcesOf(resourcesOfVersion4(file)), ...outputsOf(file) };
    case 3n:
      return {
        ...nothingOf(file),
        ...resourcesOf(resourcesOfVersion3(file)),
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
    // Resources are compared between states, so theirs are read in one way only.
    if (isObject(file) && holdsNumbers(file.outputs ?? file.modules)) {
      const exact = parseExactJson(text);
      if (isObject(exact)) file = { ...file, outputs: exact.outputs, modules: exact.modules };
    }
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
    ...resourcesOf([]),
    outputs: [],
    opaque: null,
  };
}

function outputsOf(holder: JsonObject): Pick<Extraction, "outputs"> {
  const outputs = outputsFrom(holder.outputs ?? {});
  if (!outputs) throw new StateFileError("an output of the state has no readable form");
  return { outputs };
}

/** Counts by module and by provider, and the list, show data sources, too; all else is of managed resources. */
function resourcesOf(found: readonly FoundResource[]): Inventory {
  const modules = new Counts();
  const providers = new Counts();
  const resources: StateResource[] = [];
  const instances = new Map<string, ResourceInstance>();
  let resourceCount = 0;
  let billableCount = 0;
  for (const { managed, name, type, module, provider, ...resource } of found) {
    const count = resource.instances.length;
    if (count === 0) continue;
    const shown = managed ? type : `data.${type}`;
    const counted = shown.replaceAll("_", "-");
    modules.add(module, counted, count);
    if (provider !== "") providers.add(provider, counted, count);
    resources.push({ name, type: shown, count, module, provider });
    if (!managed) continue;
    resourceCount += count;
    if (isBillable(type)) billableCount += count;
    for (const instance of instancesOf({ managed, name, type, module, provider, ...resource })) {
      instances.set(instance.address, instance);
    }
  }
  return {
    resources,
    modules: modules.toObject(),
    providers: providers.toObject(),
    resourceCount,
    billableCount,
    instances: [...instances.values()],
  };
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

function resourcesOfVersion4(file: JsonObject): FoundResource[] {
  return list(file.resources, "resources").map((resource) => {
    if (!isObject(resource)) throw new StateFileError("a resource of the state is not an object");
    return {
      name: string(resource.name) ?? "",
      type: string(resource.type) ?? "",
      module: string(resource.module) ?? "root",
      provider: string(resource.provider) ?? "",
      managed: resource.mode !== "data",
      instances: list(resource.instances, "instances").map((content) => {
        if (!isObject(content)) return { index: null, content, deposed: false };
        const { index_key: index = null, deposed = "" } = content;
        return { index, content, deposed: deposed !== "" };
      }),
    };
  });
}

/** Format 3 keys every instance by its address: `aws_instance.web.0`, `data.aws_ami.base`. */
function resourcesOfVersion3(file: JsonObject): FoundResource[] {
  return list(file.modules, "modules").flatMap((module) => {
    if (!isObject(module)) throw new StateFileError("a module of the state is not an object");
    const path = list(module.path, "path").map((part) => string(part) ?? "");
    const address = path.slice(1).map((name) => `module.${name}`);
    const byName = new Map<string, FoundResource>();
    for (const [key, content] of Object.entries(
      isObject(module.resources) ? module.resources : {},
    )) {
      const parts = storable(key).split(".");
      const managed = parts[0] !== "data";
      const [type = "", name = "", position] = managed ? parts : parts.slice(1);
      const index = position !== undefined && /^\d+$/.test(position) ? Number(position) : null;
      const id = `${managed} ${type}.${name}`;
      const known = byName.get(id);
      if (known) known.instances.push({ index, content, deposed: false });
      else {
        byName.set(id, {
          name,
          type,
          module: address.length === 0 ? "root" : address.join("."),
          provider: (isObject(content) ? string(content.provider) : null) ?? "",
          managed,
          instances: [{ index, content, deposed: false }],
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
