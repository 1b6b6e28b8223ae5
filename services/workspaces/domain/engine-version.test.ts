import { expect, test } from "vitest";
import { isEngineVersion } from "./engine-version.ts";

test.each([
  "1.11.0",
  "1.12.0-alpha20260101",
  "1.6.0+build.5",
  "~> 1.0.0",
  "~>1.0",
  ">= 1.2, < 2.0",
  "!= 1.3.1",
  "latest",
])("%s is accepted", (text) => {
  expect(isEngineVersion(text)).toBe(true);
});

test.each([
  "",
  "newest",
  "1..2",
  "=> 1.0",
  "1.2.3.4",
  ">= 1.0,",
  "1.0 || 2.0",
  `1.0.0-${"a".repeat(200)}`,
])("%s is refused", (text) => {
  expect(isEngineVersion(text)).toBe(false);
});
