/** The size above which a message is encoded, in bytes: a smaller message is below the limit of every method. */
const LARGE_BYTES = 128 * 1024;
/** Upper bound for the bytes of one field's tag, length and fixed-size value. */
const FIELD_BYTES = 48;
/** The maximum number of UTF-8 bytes for one UTF-16 code unit. */
const UNIT_BYTES = 3;
const MAX_INT32 = 2 ** 31 - 1;
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Returns true only if encoding and decoding the message would return an equal message, and the encoding has at most
 * 128 KiB. Returns false for values that the encoding changes or refuses, such as unpaired surrogates and numbers that
 * some types of fields exclude, and for bytes, because the code that created the message can overwrite them.
 */
export const isTransferable = (message: object): boolean => restAfter(message, LARGE_BYTES) >= 0;

/** Returns how many bytes of `budget` remain after the value; negative if the message must be encoded. */
function restAfter(value: unknown, budget: number): number {
  const rest = budget - FIELD_BYTES;
  switch (typeof value) {
    case "string": {
      const left = rest - value.length * UNIT_BYTES;
      return left < 0 || value.isWellFormed() ? left : -1;
    }
    case "number":
      return isTransferableNumber(value) ? rest : -1;
    case "boolean":
      return rest;
    case "bigint":
      return value >= 0n && value <= MAX_INT64 ? rest : -1;
    case "object":
      return value === null ? rest : restAfterMembers(value, rest);
    default:
      return -1;
  }
}

/** Returns whether every numeric field type can hold the value. */
const isTransferableNumber = (value: number): boolean =>
  value >= 0 && value <= MAX_INT32 && Number.isInteger(value) && !Object.is(value, -0);

function restAfterMembers(value: object, budget: number): number {
  let rest = budget;
  if (Array.isArray(value)) {
    for (const item of value) {
      rest = restAfter(item, rest);
      if (rest < 0) return rest;
    }
    return rest;
  }
  if (ArrayBuffer.isView(value)) return -1;
  const members = value as Readonly<Record<string, unknown>>;
  // Object.entries is not used, because it takes twice as long.
  for (const name of Object.keys(members)) {
    rest = restAfter(name, rest);
    if (rest < 0) return rest;
    rest = restAfter(members[name], rest);
    if (rest < 0) return rest;
  }
  return rest;
}
