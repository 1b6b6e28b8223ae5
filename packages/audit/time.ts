import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** A time in microseconds since 1970. The database stores times with this precision. */
export type Micros = number;

/** The number of microseconds in a second. */
export const MICROS = 1_000_000;
const MICROS_IN_MS = 1000;
const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.(\d{1,9}))?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Reads a time in ISO 8601: a day, or a time with its zone. Returns undefined for all other texts. */
export function microsOfText(text: string): Micros | undefined {
  const [matched, fraction = ""] = TIME.exec(text) ?? [];
  const ms = matched === undefined ? Number.NaN : Date.parse(matched);
  if (Number.isNaN(ms)) return undefined;
  // Microseconds are added separately, because a `Date` has only milliseconds.
  return ms * MICROS_IN_MS + Number(fraction.padEnd(6, "0").slice(3, 6));
}

/** Formats a time in ISO 8601 with microseconds. */
export function textOfMicros(micros: Micros): string {
  const ms = new Date(Math.floor(micros / MICROS_IN_MS)).toISOString().slice(0, -1);
  return `${ms}${String(micros % MICROS_IN_MS).padStart(3, "0")}Z`;
}

/** Returns the time in a field of a message; 0 if the field is absent. */
export const microsOf = (time: Timestamp | undefined): Micros =>
  time ? Number(time.seconds) * MICROS + Math.floor(time.nanos / 1000) : 0;

/** Converts a time to the value of a message field. */
export const timestampOf = (micros: Micros) => ({
  seconds: BigInt(Math.floor(micros / MICROS)),
  nanos: (micros % MICROS) * 1000,
});
