import path from "node:path";
import { afterAll, beforeEach } from "vitest";
import { checkReach } from "./route-coverage.ts";

// Importing this module makes a test file check its promises in routes.golden.txt after all its tests have passed. It
// cannot be forgotten, because every system test gets its users from a fixture that imports it.

interface Tasks {
  mode: string;
  result?: { state: string } | undefined;
  tasks?: Tasks[];
}

let file: (Tasks & { filepath: string }) | undefined;

beforeEach(({ task }) => {
  file = task.file;
});

afterAll(() => {
  if (file && everyTestPassed(file)) checkReach(path.basename(file.filepath));
});

const everyTestPassed = ({ tasks, mode, result }: Tasks): boolean =>
  tasks ? tasks.every(everyTestPassed) : mode === "run" && result?.state === "pass";
