import { expect, test } from "vitest";
import { withTimeout } from "./with-timeout.ts";

const never = new Promise<never>(() => {});

test("the result of work that ends in time is returned", async () => {
  expect(await withTimeout(1000, Promise.resolve("done"))).toBe("done");
  await expect(withTimeout(1000, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});

test("work that takes longer is given up with the stated error", async () => {
  await expect(withTimeout(1, never)).rejects.toThrow("no response within 1 ms");
  await expect(withTimeout(1, never, () => new Error("too late"))).rejects.toThrow("too late");
});
