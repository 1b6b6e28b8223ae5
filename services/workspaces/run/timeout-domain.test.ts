import { Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import { checkRunTimeouts } from "./timeout-domain.ts";

test.each([
  ["2h", true],
  ["30s", true],
  ["00090m", true],
  ["7d", true],
  ["0h", false],
  ["2", false],
  ["h", false],
  ["2w", false],
  ["1234567s", false],
  [`${"0".repeat(1000)}1h`, false],
  ["1.5h", false],
])("%s is valid: %s", (text, valid) => {
  const problems = new Problems();
  checkRunTimeouts({ planTimeout: text, applyTimeout: text }, problems);
  if (valid) expect(() => problems.throwIfAny()).not.toThrow();
  else expect(() => problems.throwIfAny()).toThrow();
});
