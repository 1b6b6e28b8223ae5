import { isExactNumber } from "./exact-json.ts";
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

/** The lists that may be long: they are taken item by item. */
export type ListName = "resources" | "modules";

/**
 * Takes a state file member by member, in any order, and says in the end what it holds. Resources are counted
 * and let go one by one, so that no state is ever in memory as a whole.
 */
export class StateFile {
  readonly #head: JsonObject = {};
  #format3 = new Tally();
  #format4 = new Tally();
  #rootOutputs: unknown;

  /** A member that is neither `resources` nor `modules`. */
  setMember(name: string, value: unknown): void {
    this.#head[name] = value;
  }

  /** `resources` (format 4) or `modules` (format 3) begins; of several the last counts. */
  beginList(name: ListName, isList: boolean): void {
    const tally = new Tally();
    if (!isList) tally.refuse(new StateFileError(`the state's ${name} are not a list`));
    if (name === "resources") this.#format4 = tally;
    else this.#format3 = tally;
  }

  addResource(resource: unknown): void {
    this.#format4.take(() => [resourceOfVersion4(resource)]);
  }

  addModule(module: unknown): void {
    this.#format3.take(() => resourcesOfVersion3(module));
    if (this.#rootOutputs === undefined && isRoot(module)) this.#rootOutputs = module.outputs ?? {};
  }

  /**
   * What the state holds. Formats that nobody here can look into (encrypted, unknown versions) give an empty
   * extraction that says why. Throws `StateFileError` on what is no state at all.
   */
  finish(): Extraction {
    const file = this.#head;
    if ("encrypted_data" in file) return { ...nothingOf(file), opaque: "the state is encrypted" };
    switch (integer(file.version)) {
      case 4n:
        return { ...nothingOf(file), ...this.#format4.inventory(), ...outputsOf(file.outputs) };
      case 3n:
        return {
          ...nothingOf(file),
          ...this.#format3.inventory(),
          ...outputsOf(untyped(this.#rootOutputs)),
        };
      default:
        return { ...nothingOf(file), opaque: "the state has a format that is not known here" };
    }
  }
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
    ...new Tally().inventory(),
    outputs: [],
    opaque: null,
  };
}

function outputsOf(outputs: unknown): Pick<Extraction, "outputs"> {
  const found = outputsFrom(outputs ?? {});
  if (!found) throw new StateFileError("an output of the state has no readable form");
  return { outputs: found };
}

type Inventory = Pick<
  Extraction,
  "resources" | "modules" | "providers" | "resourceCount" | "billableCount" | "instances"
>;

/** Counts by module and by provider, and the list, show data sources, too; all else is of managed resources. */
class Tally {
  readonly #modules = new Counts();
  readonly #providers = new Counts();
  readonly #resources: StateResource[] = [];
  readonly #instances = new Map<string, ResourceInstance>();
  #resourceCount = 0;
  #billableCount = 0;
  #fault: StateFileError | undefined;

  /** Adds what `find` finds; what is at fault with it is told only when somebody asks for the whole. */
  take(find: () => readonly FoundResource[]): void {
    try {
      for (const resource of find()) this.#add(resource);
    } catch (error) {
      if (!(error instanceof StateFileError)) throw error;
      this.refuse(error);
    }
  }

  refuse(fault: StateFileError): void {
    this.#fault ??= fault;
  }

  inventory(): Inventory {
    if (this.#fault) throw this.#fault;
    return {
      resources: this.#resources,
      modules: this.#modules.toObject(),
      providers: this.#providers.toObject(),
      resourceCount: this.#resourceCount,
      billableCount: this.#billableCount,
      instances: [...this.#instances.values()],
    };
  }

  #add(resource: FoundResource): void {
    const { managed, name, type, module, provider } = resource;
    const count = resource.instances.length;
    if (count === 0) return;
    const shown = managed ? type : `data.${type}`;
    const counted = shown.replaceAll("_", "-");
    this.#modules.add(module, counted, count);
    if (provider !== "") this.#providers.add(provider, counted, count);
    this.#resources.push({ name, type: shown, count, module, provider });
    if (!managed) return;
    this.#resourceCount += count;
    if (isBillable(type)) this.#billableCount += count;
    for (const instance of instancesOf(resource)) this.#instances.set(instance.address, instance);
  }
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

function resourceOfVersion4(resource: unknown): FoundResource {
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
}

/** Format 3 keys every instance by its address: `aws_instance.web.0`, `data.aws_ami.base`. */
function resourcesOfVersion3(module: unknown): FoundResource[] {
  if (!isObject(module)) throw new StateFileError("a module of the state is not an object");
  const path = list(module.path, "path").map((part) => string(part) ?? "");
  const address = path.slice(1).map((name) => `module.${name}`);
  const byName = new Map<string, FoundResource>();
  for (const [key, content] of Object.entries(isObject(module.resources) ? module.resources : {})) {
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
}

const isRoot = (module: unknown): module is JsonObject =>
  isObject(module) && Array.isArray(module.path ?? []) && list(module.path, "path").length <= 1;

/** Types of format 3 (`map`, `list`) say nothing of what is inside; those of the values do. */
function untyped(outputs: unknown): unknown {
  if (!isObject(outputs)) return {};
  const stripped = Object.entries(outputs).map(([name, output]) => {
    if (!isObject(output)) return [name, output] as const;
    const { type: _, ...rest } = output;
    return [name, rest] as const;
  });
  return Object.fromEntries(stripped);
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
