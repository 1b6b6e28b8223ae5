import { isExactNumber } from "@statehouse/runtime/exact-json";
import { type Extraction, StateFileError, storable } from "../extraction/domain.ts";
import { isObject, outputsFrom } from "../state-version-output/domain.ts";
import type { FoundResource } from "./resource-instance-domain.ts";
import { ResourceTally } from "./resource-tally-domain.ts";

type JsonObject = Record<string, unknown>;

/** Lists that can be long and are therefore processed item by item. */
export type ListName = "resources" | "modules";

/**
 * Collects the members of a state file in any order and returns the extracted content at the end. Resources are counted
 * and discarded one by one, so that the complete state is never in memory.
 */
export class StateFile {
  readonly #head: JsonObject = {};
  #format3 = new ResourceTally();
  #format4 = new ResourceTally();
  #rootOutputs: unknown;

  /** Sets a member other than `resources` and `modules`. */
  setMember(name: string, value: unknown): void {
    this.#head[name] = value;
  }

  /**
   * Begins `resources` (format 4) or `modules` (format 3). If the file contains the member more than once, the last one
   * is used.
   */
  beginList(name: ListName, isList: boolean): void {
    const tally = new ResourceTally();
    if (!isList) tally.refuse(new StateFileError(`the value of ${name} is not a list`));
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
   * Returns the extracted content. For an unsupported format (encrypted, unknown version) the extraction is empty and
   * contains the reason. Throws `StateFileError` if the content is not a state.
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
        return { ...nothingOf(file), opaque: "the state has an unknown format" };
    }
  }
}

/** The largest valid format version: its database column and its protobuf field have 32 bits. */
const MAX_FORMAT = 2n ** 31n - 1n;

/** Returns an extraction with the members common to all formats, and without resources and outputs. */
function nothingOf(file: JsonObject): Extraction {
  const version = integer(file.version);
  return {
    serial: integer(file.serial),
    lineage: string(file.lineage),
    formatVersion: version === null || version > MAX_FORMAT ? null : Number(version),
    engineVersion: string(file.terraform_version),
    ...new ResourceTally().inventory(),
    outputs: [],
    opaque: null,
  };
}

/** Maximum length of a state's outputs, in characters. Longer outputs would not fit into a gRPC message. */
const MAX_OUTPUT_CHARACTERS = 48 * 1024 * 1024;

function outputsOf(outputs: unknown): Pick<Extraction, "outputs"> {
  const found = outputsFrom(outputs ?? {});
  if (!found) throw new StateFileError("an output of the state is unreadable");
  const length = found.reduce(
    (sum, { name, valueJson }) => sum + name.length + valueJson.length,
    0,
  );
  if (length > MAX_OUTPUT_CHARACTERS) throw new StateFileError("the state's outputs are too large");
  return { outputs: found };
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

/** Format 3 uses the address of each resource as its key: `aws_instance.web.0`, `data.aws_ami.base`. */
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

/** Types of format 3 (`map`, `list`) do not describe their elements, so the type is derived from the value. */
function untyped(outputs: unknown): unknown {
  if (!isObject(outputs)) return {};
  const stripped = Object.entries(outputs).map(([name, output]) => {
    if (!isObject(output)) return [name, output] as const;
    const { type: _, ...rest } = output;
    return [name, rest] as const;
  });
  return Object.fromEntries(stripped);
}

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
  throw new StateFileError(`the value of ${name} is not a list`);
}
