import { expect, test } from "vitest";
import { loaderOf } from "./loader.ts";

function recorded() {
  const calls: string[][] = [];
  const load = loaderOf(async (ids) => {
    calls.push(ids);
    return ids.filter((id) => id !== "unknown").map((id) => ({ id }));
  });
  return { calls, load };
}

test("ids that were requested before are not requested again", async () => {
  const { calls, load } = recorded();
  const both = await Promise.all([load(["a", "b"]), load(["b", "c", "unknown"])]);
  expect(both).toEqual([
    [{ id: "a" }, { id: "b" }],
    [{ id: "b" }, { id: "c" }],
  ]);
  expect(await load(["a", "unknown"])).toEqual([{ id: "a" }]);
  expect(calls).toEqual([
    ["a", "b"],
    ["c", "unknown"],
  ]);
});

test("a failed call rejects all waiting callers", async () => {
  const load = loaderOf(async () => Promise.reject(new Error("no response")));
  const both = await Promise.allSettled([load(["a"]), load(["a"])]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
