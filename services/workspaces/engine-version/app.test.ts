import { expect, test } from "vitest";
import { createEngineVersionResolver } from "./app.ts";
import { resolveEngineVersion } from "./domain.ts";

test("a resolver caches its result for each text, even if no release matches", () => {
  const releases = ["1.5.0", "1.6.0"];
  const resolve = createEngineVersionResolver(releases);
  for (const text of ["latest", "~> 1.5.0", "~> 2.0", "latest", "~> 1.5.0", "~> 2.0"]) {
    expect(resolve(text)).toBe(resolveEngineVersion(text, releases) ?? null);
  }
});
