import type { Problems } from "@statehouse/errors";
import { isExactNumber, parseExactJson } from "@statehouse/runtime/exact-json";
import { type ExtractedOutput, storable } from "../extraction/domain.ts";
import type { StateVersionId, StateVersionOutputId, WorkspaceId } from "../ids-domain.ts";

/** An output in the form that its document shows. */
export interface StateVersionOutput {
  id: StateVersionOutputId;
  stateVersionId: StateVersionId;
  workspaceId: WorkspaceId;
  name: string;
  sensitive: boolean;
  type: string;
  detailedTypeJson: string;
  /** Null if the value is withheld. */
  valueJson: string | null;
}

/** Maps the engine's type constructors to the types that documents show. */
const outputTypes = new Map<unknown, string>([
  ["string", "string"],
  ["number", "number"],
  ["bool", "bool"],
  ["list", "array"],
  ["set", "array"],
  ["tuple", "array"],
  ["map", "map"],
  ["object", "object"],
  ["dynamic", "dynamic"],
]);

/** Returns whether the value, parsed from a state, is a JSON object. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);

/** Derives the engine's type from a value, because the JSON output of older engines contains no types. */
function inferType(value: unknown): unknown {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" || isExactNumber(value)) return "number";
  if (Array.isArray(value)) return ["tuple", value.map(inferType)];
  if (isObject(value)) {
    return ["object", Object.fromEntries(Object.entries(value).map(([k, v]) => [k, inferType(v)]))];
  }
  return "dynamic";
}

/**
 * Returns the output in an entry `{value, type?, sensitive?}` of a state or of the engine's JSON output; undefined if
 * the entry has another form.
 */
export function outputFrom(name: string, entry: unknown): ExtractedOutput | undefined {
  if (!isObject(entry)) return undefined;
  const value = entry.value ?? null;
  const detailedType = entry.type ?? inferType(value);
  const constructorName = Array.isArray(detailedType) ? detailedType[0] : detailedType;
  return {
    name: storable(name),
    sensitive: entry.sensitive === true,
    type: outputTypes.get(constructorName) ?? "dynamic",
    detailedTypeJson: JSON.stringify(detailedType),
    valueJson: JSON.stringify(value),
  };
}

/** Returns the outputs in a parsed object that maps names to entries; undefined if the object has another form. */
export function outputsFrom(outputs: unknown): ExtractedOutput[] | undefined {
  if (!isObject(outputs)) return undefined;
  const found = Object.entries(outputs).map(([name, entry]) => outputFrom(name, entry));
  return found.every((output) => output !== undefined) ? found : undefined;
}

/** Returns the outputs that a create request contains. If they are malformed, adds a problem and returns undefined. */
export function parseJsonStateOutputs(
  bytes: Uint8Array,
  problems: Problems,
): ExtractedOutput[] | undefined {
  const outputs = tryParse(bytes);
  if (!outputs) {
    problems.add(
      "jsonStateOutputs",
      "Json state outputs must be base64 of a JSON object of outputs by name",
    );
  }
  return outputs;
}

function tryParse(bytes: Uint8Array): ExtractedOutput[] | undefined {
  try {
    return outputsFrom(parseExactJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    // The text is not UTF-8, not JSON, or nested too deeply for the parser.
    return undefined;
  }
}
