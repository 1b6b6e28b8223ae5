import { expect, test } from "vitest";
import { waitFor } from "./wait.ts";

test("waitFor returns the first truthy result", async () => {
  const answers = [false, undefined, null, 0];
  expect(await waitFor(() => answers.shift(), { interval: 1 })).toBe(0);
});

test("a failed waitFor includes the last error", async () => {
  const never = waitFor(() => Promise.reject(new Error("not yet")), {
    timeout: 5,
    interval: 1,
    what: "tea",
  });
  await expect(never).rejects.toThrow("Waited 5 ms in vain for tea; last error: not yet");
});
