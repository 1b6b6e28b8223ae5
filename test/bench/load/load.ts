import { type BenchProcess, startChild } from "../child.ts";
import type { LoadPlan, LoadResult } from "./plan.ts";

export type Generator = BenchProcess<LoadPlan, LoadResult>;

/** Starts the process that generates the load. */
export const startGenerator = (): Generator =>
  startChild(new URL("./generator.ts", import.meta.url));
