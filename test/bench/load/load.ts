import { type BenchProcess, startChild } from "../child.ts";
import type { LoadPlan, LoadResult } from "./plan.ts";

export type Generator = BenchProcess<LoadPlan, LoadResult>;

/** Starts the process that sends requests. */
export const startGenerator = (): Generator =>
  startChild(new URL("./generator.ts", import.meta.url));
