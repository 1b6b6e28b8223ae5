import { describe, expect, it } from "vitest";
import { rangeOf } from "./byte-range-domain.ts";

const rows: [header: string | undefined, range: ReturnType<typeof rangeOf>][] = [
  [undefined, undefined],
  ["bytes=0-0", { start: 0, end: 0 }],
  ["bytes=0-99", { start: 0, end: 99 }],
  ["bytes=10-", { start: 10, end: 99 }],
  ["Bytes= 10-20 ", { start: 10, end: 20 }],
  ["bytes=10-1000", { start: 10, end: 99 }],
  ["bytes=-1", { start: 99, end: 99 }],
  ["bytes=-1000", { start: 0, end: 99 }],
  ["bytes=99-", { start: 99, end: 99 }],
  ["bytes=100-", "unsatisfiable"],
  ["bytes=100-200", "unsatisfiable"],
  ["bytes=-0", "unsatisfiable"],
  ["bytes=99999999999999999999-", "unsatisfiable"],
  ["bytes=20-10", undefined],
  ["bytes=-", undefined],
  ["bytes=0-1,5-6", undefined],
  ["bytes=a-b", undefined],
  ["bytes=1.5-2", undefined],
  ["lines=1-2", undefined],
  ["bytes 1-2", undefined],
];

describe("a Range header, of 100 bytes", () => {
  it.each(rows)("%s selects %o", (header, range) => {
    expect(rangeOf(header, 100)).toEqual(range);
  });
});
