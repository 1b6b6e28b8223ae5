import type { DescMessage } from "@bufbuild/protobuf";

/** The size above which a message is encoded, in bytes: a smaller message is below the limit of every method. */
const LARGE_BYTES = 128 * 1024;
/** The maximum number of UTF-8 bytes for one UTF-16 code unit. */
const UNIT_BYTES = 3;
const MAX_INT32 = 2 ** 31 - 1;
const MAX_INT64 = 2n ** 63n - 1n;

/** What a member of an object needs in the encoding. */
interface Cost {
  /** Upper bound for the bytes besides text. */
  overhead: number;
  /** Whether the name of the member is encoded. */
  named: boolean;
}

/** A field: the tag needs at most 5 bytes, and the length or the number at most 10. */
const fieldCost: Cost = { overhead: 16, named: false };
/** An entry of a map, or a member of a `google.protobuf.Struct`, which is encoded as up to three nested messages. */
const memberCost: Cost = { overhead: 48, named: true };

/**
 * Returns true only if encoding and decoding the message would return an equal message, and the encoding has at most
 * 128 KiB. Returns false for values that the encoding changes or refuses, such as unpaired surrogates and numbers that
 * some types of fields exclude, and for bytes, because the code that created the message can overwrite them.
 */
export const isTransferable = (desc: DescMessage, message: object): boolean =>
  restAfterMembers(message, LARGE_BYTES, costOf(desc)) >= 0;

const costs = new WeakMap<DescMessage, Cost>();

const costOf = (desc: DescMessage): Cost =>
  costs.getOrInsertComputed(desc, (of) => (hasFreeNames(of, new Set()) ? memberCost : fieldCost));

/** Returns whether callers choose names of members somewhere in the message: it contains a map or a Struct. */
function hasFreeNames(desc: DescMessage, visited: Set<DescMessage>): boolean {
  if (visited.has(desc)) return false;
  visited.add(desc);
  return (
    desc.typeName.startsWith("google.protobuf.Struct") ||
    desc.fields.some(
      ({ fieldKind, message }) =>
        fieldKind === "map" || (message && hasFreeNames(message, visited)),
    )
  );
}

/** Returns how many bytes of `budget` remain after the value; negative if the message must be encoded. */
function restAfter(value: unknown, budget: number, cost: Cost): number {
  const rest = budget - cost.overhead;
  switch (typeof value) {
    case "string":
      return restAfterText(value, rest);
    case "number":
      return isTransferableNumber(value) ? rest : -1;
    case "boolean":
      return rest;
    case "bigint":
      return value >= 0n && value <= MAX_INT64 ? rest : -1;
    case "object":
      if (value === null) return rest;
      return Array.isArray(value)
        ? restAfterItems(value, rest, cost)
        : restAfterMembers(value, rest, cost);
    default:
      return -1;
  }
}

function restAfterText(text: string, budget: number): number {
  const rest = budget - text.length * UNIT_BYTES;
  return rest < 0 || text.isWellFormed() ? rest : -1;
}

/** Returns whether every numeric field type can hold the value, except `float`, which no message uses. */
const isTransferableNumber = (value: number): boolean =>
  value >= 0 && value <= MAX_INT32 && Number.isInteger(value) && !Object.is(value, -0);

function restAfterItems(items: readonly unknown[], budget: number, cost: Cost): number {
  let rest = budget;
  for (const item of items) {
    rest = restAfter(item, rest, cost);
    if (rest < 0) return rest;
  }
  return rest;
}

function restAfterMembers(value: object, budget: number, cost: Cost): number {
  if (ArrayBuffer.isView(value)) return -1;
  const members = value as Readonly<Record<string, unknown>>;
  let rest = budget;
  // Object.entries is not used, because it takes twice as long.
  for (const name of Object.keys(members)) {
    if (cost.named) rest = restAfterText(name, rest);
    if (rest < 0) return rest;
    rest = restAfter(members[name], rest, cost);
    if (rest < 0) return rest;
  }
  return rest;
}
