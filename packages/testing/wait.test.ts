import { expect, test } from "vitest";
import { waitFor } from "./wait.ts";

test("the first true answer is returned", async () => {
  const answers = [false, undefined, null, 0];
  expect(await waitFor(() => answers.shift(), { interval: 1 })).toBe(0);
});

test("in vain, the last error is told", async () => {
  const never = waitFor(() => Promise.reject(new Error("not yet")), {
    timeout: 5,
    interval: 1,
    what: "tea",
  });
  await expect(never).rejects.toThrow("Waited 5 ms in vain for tea; last error: not yet");
});
