import "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** The rows of the specification that the test proves: test/golden/specification.ts. */
    spec?: string[];
    /** The dependencies whose absence makes the suite be skipped. */
    missing?: string[];
  }
}
