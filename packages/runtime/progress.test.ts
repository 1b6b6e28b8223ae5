import { describe, expect, it } from "vitest";
import { startProgress } from "./progress.ts";

function written(isTTY: boolean, work: (progress: ReturnType<typeof startProgress>) => void) {
  const texts: string[] = [];
  const stream = { isTTY, write: (text: string) => void texts.push(text) };
  work(startProgress({ what: "blobs", stream }));
  return texts.map((text) => text.replace(/, \d+\/s/, ""));
}

describe("progress", () => {
  it("is a bar on one line of a terminal", () => {
    const texts = written(true, (progress) => {
      progress.expect(4);
      progress.advance();
      progress.end();
    });
    expect(texts[0]).toBe(`\r[${"-".repeat(30)}] 0 of 4 blobs (0 %)\u001b[K`);
    expect(texts.at(-2)).toBe(`\r[${"#".repeat(8)}${"-".repeat(22)}] 1 of 4 blobs (25 %)\u001b[K`);
    expect(texts.at(-1)).toBe("\n");
  });

  it("is an occasional line without a terminal", () => {
    const texts = written(false, (progress) => {
      progress.expect(2);
      for (let step = 0; step < 2; step++) progress.advance();
      progress.end();
    });
    expect(texts).toEqual(["2 of 2 blobs (100 %)\n"]);
  });

  it("never exceeds the total and accepts a total of 0", () => {
    expect(written(false, (progress) => progress.end())).toEqual(["0 of 0 blobs (0 %)\n"]);
    const more = written(false, (progress) => {
      progress.expect(1);
      progress.advance(3);
      progress.end();
    });
    expect(more).toEqual(["3 of 1 blobs (100 %)\n"]);
  });
});
