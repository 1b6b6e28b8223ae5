import { expect, test } from "vitest";
import { together } from "./together.ts";

function recorded() {
  const asked: string[][] = [];
  const lengthOf = together(async (keys: readonly string[]) => {
    asked.push([...keys]);
    if (keys.includes("broken")) throw new Error("no answer");
    return keys.map((key) => (key === "unknown" ? undefined : key.length));
  });
  return { asked, lengthOf };
}

test("what is wanted in one turn is asked at once, each key once, and everybody gets their own answer", async () => {
  const { asked, lengthOf } = recorded();
  const wanted = ["a", "bb", "a", "unknown", "ccc"].map(lengthOf);
  expect(await Promise.all(wanted)).toEqual([1, 2, 1, undefined, 3]);
  expect(asked).toEqual([["a", "bb", "unknown", "ccc"]]);
});

test("who comes after a batch was sent is asked for anew", async () => {
  const { asked, lengthOf } = recorded();
  const first = lengthOf("a");
  await new Promise((resolve) => setImmediate(resolve));
  const second = lengthOf("a");
  await Promise.all([first, second]);
  expect(asked).toEqual([["a"], ["a"]]);
});

test("a batch that fails fails for all in it, and for nobody after", async () => {
  const { lengthOf } = recorded();
  const failed = await Promise.allSettled([lengthOf("broken"), lengthOf("a")]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await lengthOf("a")).toBe(1);
});

test("a batch is not longer than a hundred", async () => {
  const { asked, lengthOf } = recorded();
  await Promise.all(Array.from({ length: 150 }, (_, key) => lengthOf(`key ${key}`)));
  expect(asked.map(({ length }) => length)).toEqual([100, 50]);
});
