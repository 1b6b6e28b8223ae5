import path from "node:path";
import { afterAll, beforeEach } from "vitest";
import { beginFile, checkReach } from "./route-coverage.ts";

// Setup file of the system tests. After all tests of a test file have passed, it checks that the file has received
// every status that routes.golden.txt assigns to it.
beginFile();

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
