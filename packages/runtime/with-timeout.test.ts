import { expect, test } from "vitest";
import { withTimeout } from "./with-timeout.ts";

const never = new Promise<never>(() => {});

test("returns the result of work that ends in time", async () => {
  expect(await withTimeout(1000, Promise.resolve("done"))).toBe("done");
  await expect(withTimeout(1000, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});

test("work that takes too long fails with the given error", async () => {
  await expect(withTimeout(1, never)).rejects.toThrow("no response within 1 ms");
  await expect(withTimeout(1, never, () => new Error("too late"))).rejects.toThrow("too late");
});
