import { expect, test } from "vitest";
import { batchPerTick } from "./batch-per-tick.ts";

function recorded() {
  const calls: string[][] = [];
  const lengthOf = batchPerTick(async (keys: readonly string[]) => {
    calls.push([...keys]);
    if (keys.includes("broken")) throw new Error("no answer");
    return keys.map((key) => (key === "unknown" ? undefined : key.length));
  });
  return { calls, lengthOf };
}

test("keys of one turn are requested in one batch, each once, and each caller receives its own result", async () => {
  const { calls, lengthOf } = recorded();
  const lengths = ["a", "bb", "a", "unknown", "ccc"].map(lengthOf);
  expect(await Promise.all(lengths)).toEqual([1, 2, 1, undefined, 3]);
  expect(calls).toEqual([["a", "bb", "unknown", "ccc"]]);
});

test("a key requested after a batch was sent is requested again", async () => {
  const { calls, lengthOf } = recorded();
  const first = lengthOf("a");
  await new Promise((resolve) => setImmediate(resolve));
  const second = lengthOf("a");
  await Promise.all([first, second]);
  expect(calls).toEqual([["a"], ["a"]]);
});

test("the failure of a batch reaches all its callers, and no later ones", async () => {
  const { lengthOf } = recorded();
  const failed = await Promise.allSettled([lengthOf("broken"), lengthOf("a")]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await lengthOf("a")).toBe(1);
});

test("a batch has at most a hundred keys", async () => {
  const { calls, lengthOf } = recorded();
  await Promise.all(Array.from({ length: 150 }, (_, key) => lengthOf(`key ${key}`)));
  expect(calls.map(({ length }) => length)).toEqual([100, 50]);
});
