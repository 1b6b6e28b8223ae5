import { TestRunner } from "vitest";

/**
 * Declares that the running test proves the given rows of the specification; see test/golden/specification.ts. The call
 * must be the first line of the test.
 */
export function proves(...rows: readonly string[]): void {
  const test = TestRunner.getCurrentTest();
  if (!test) throw new Error("proves() must be called by a test");
  test.meta.spec = [...(test.meta.spec ?? []), ...rows];
}
