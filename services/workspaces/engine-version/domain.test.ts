import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { isEngineVersion, latestRelease, resolveEngineVersion } from "./domain.ts";

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

const releases = ["1.9.8", "1.10.0", "1.10.5", "1.11.0", "1.12.0-beta1", "0.15.5", "2.0.0"];

test("the latest release is the highest one, not the last in the text, and not a preview", () => {
  expect(latestRelease(["1.9.8", "1.11.0", "1.12.0-beta1"])).toBe("1.11.0");
  expect(latestRelease(["1.12.0-beta1"])).toBeUndefined();
});

test.each([
  ["latest", "2.0.0"],
  ["1.10.0", "1.10.0"],
  ["v1.10.0", "1.10.0"],
  ["7.7.7", "7.7.7"],
  ["~> 1.10.0", "1.10.5"],
  ["~> 1.9", "1.11.0"],
  ["~> 1", "2.0.0"],
  ["~>1.10.0, != 1.10.5", "1.10.0"],
  [">= 1.10, < 2.0", "1.11.0"],
  ["<= 1.10.0", "1.10.0"],
  ["> 2.0.0", undefined],
  ["1.10", "1.10.0"],
  ["= 1.12.0-beta1", "1.12.0-beta1"],
  // A prerelease matches only if the constraint names it exactly.
  [">= 1.12.0-beta1, < 2", undefined],
  ["~> 0.15.4", "0.15.5"],
  ["01.2", undefined],
])("%s resolves to %s", (text, version) => {
  proves("Workspace/engine-version");
  expect(resolveEngineVersion(text, releases)).toBe(version);
});
