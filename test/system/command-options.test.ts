import path from "node:path";
import process from "node:process";
import { childEnvironment, runProgram } from "@statehouse/testing";
import { expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const kubernetes = "test/kubernetes/main.ts --image statehouse:test";
const count = "expected a whole number, at least 1.";

test.each([
  ["test/generated-calls/main.ts --calls many", `--calls is 'many'; ${count}`],
  ["test/generated-calls/main.ts --seed 1.5", `--seed is '1.5'; ${count}`],
  [
    "test/generated-calls/main.ts --as owner,admin",
    "--as is 'owner,admin'; expected some of owner, member, anonymous, separated by commas.",
  ],
  [`${kubernetes} --minutes soon`, "--minutes is 'soon'; expected a whole number, at least 0."],
  [`${kubernetes} --rate 0`, `--rate is '0'; ${count}`],
  ["test/bench/main.ts --seconds 0", `--seconds is '0'; ${count}`],
])("%s is refused", async (command, message) => {
  const env = childEnvironment({});
  const { code, output } = await runProgram(process.execPath, command.split(" "), {
    cwd: root,
    env,
  });
  expect({ code, output }).toEqual({ code: 1, output: `${message}\n` });
});
