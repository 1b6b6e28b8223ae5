/** One request, and the only status it may be answered with. */
export interface PlannedRequest {
  method: "GET" | "POST";
  path: string;
  body?: string;
  /** Instead of the plan's. */
  headers?: Record<string, string>;
  expect: number;
}

/** What the generator is told to do. */
export interface LoadPlan {
  /** e.g. http://127.0.0.1:8080 */
  origin: string;
  headers: Record<string, string>;
  /** One keep-alive connection each: it sends its requests in turn, the next one after the answer. */
  connections: readonly (readonly PlannedRequest[])[];
  seconds: number;
  /** Between an answer and the next request; default none. */
  pauseMs?: number;
}

/** What the generator saw. */
export interface LoadResult {
  seconds: number;
  /** Of every answer, in ms. */
  latencies: Float64Array;
  /** Mean size of an answer's body. */
  bytes: number;
  /** Answers with another status, and broken connections; the first one in words. */
  failures: number;
  firstFailure?: string;
  /** CPU time of the generator itself, in µs. */
  cpuMicros: number;
}
