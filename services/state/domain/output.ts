import { invalid } from "@statehouse/errors";
import { isExactNumber, parseExactJson } from "./exact-json.ts";
import type { ExtractedOutput } from "./extraction.ts";
import { storable } from "./storable-text.ts";

/** The type that clients read, by the engine's type constructor. */
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);

/** The engine's type of a value that comes without one (JSON output of older engines). */
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

/** An output as states and the engine's JSON output spell it: `{value, type?, sensitive?}`. */
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

/** Outputs by name, from a parsed object. Undefined when it is not of that form. */
export function outputsFrom(outputs: unknown): ExtractedOutput[] | undefined {
  if (!isObject(outputs)) return undefined;
  const found = Object.entries(outputs).map(([name, entry]) => outputFrom(name, entry));
  return found.every((output) => output !== undefined) ? found : undefined;
}

/** The outputs that a create request carries. Throws `invalid` on `json-state-outputs`. */
export function parseGivenOutputs(bytes: Uint8Array): ExtractedOutput[] {
  const outputs = given(bytes);
  if (outputs) return outputs;
  throw invalid([
    {
      field: "json-state-outputs",
      title: "invalid attribute",
      detail: "Json state outputs must be base64 of a JSON object of outputs by name",
    },
  ]);
}

function given(bytes: Uint8Array): ExtractedOutput[] | undefined {
  try {
    return outputsFrom(parseExactJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    // No UTF-8, no JSON, or nested beyond all reason.
    return undefined;
  }
}
