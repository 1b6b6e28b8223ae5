import { expect, test } from "vitest";
import { forEachConcurrently } from "./for-each-concurrently.ts";

test("a limited number of items is processed concurrently, and a slow item delays no other", async () => {
  const long = Promise.withResolvers<void>();
  const done: number[] = [];
  let underWay = 0;
  let most = 0;
  await forEachConcurrently(2, [1, 2, 3, 4, 5], async (item) => {
    most = Math.max(most, ++underWay);
    if (item === 1) await long.promise;
    await Promise.resolve();
    done.push(item);
    if (item === 5) long.resolve();
    underWay--;
  });
  expect(done).toEqual([2, 3, 4, 5, 1]);
  expect(most).toBe(2);
});

test("after a failure no further item starts, and items in progress have ended", async () => {
  const begun: number[] = [];
  let ended = false;
  const failing = forEachConcurrently(2, [1, 2, 3, 4], async (item) => {
    begun.push(item);
    if (item === 1) throw new Error("no answer");
    await new Promise((resolve) => setImmediate(resolve));
    ended = true;
  });
  await expect(failing).rejects.toThrow("no answer");
  expect(begun).toEqual([1, 2]);
  expect(ended).toBe(true);
});
