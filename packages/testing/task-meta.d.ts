import "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** The rows of the specification that the test proves: test/golden/specification.ts. */
    spec?: string[];
    /** The parts for lack of which a suite is skipped. */
    missing?: string[];
  }
}
