import "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** The rows of the specification that the test proves; see test/golden/specification.ts. */
    spec?: string[];
    /** The missing dependencies that are the reason why the suite is skipped. */
    missing?: string[];
  }
}
