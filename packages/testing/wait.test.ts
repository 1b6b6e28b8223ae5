import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { followProcess } from "./follow-process.ts";
import { waitFor } from "./wait.ts";

test("waitFor returns the first result that is not false, null or undefined", async () => {
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

test.each([
  [
    "that exits",
    "console.log('no tea'); process.exit(1)",
    /^Waited in vain for tea: the program ended.\nno tea$/m,
  ],
  ["that a signal ends", "console.log('no tea'); process.kill(process.pid, 9)", /\nno tea$/m],
])("waitFor ends with the output of a program %s", async (_, script, message) => {
  const program = followProcess(spawn(process.execPath, ["-e", script]));
  await expect(waitFor(() => false, { program, what: "tea" })).rejects.toThrow(message);
});

test("waitFor ends with the reason why a program cannot be started", async () => {
  const program = followProcess(spawn("/nonexistent/program", []));
  await expect(waitFor(() => false, { program })).rejects.toThrow(
    "spawn /nonexistent/program ENOENT",
  );
});
