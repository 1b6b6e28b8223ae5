/** One request and its expected status. */
export interface PlannedRequest {
  method: "GET" | "POST";
  path: string;
  body?: string;
  /** Overrides the plan's. */
  headers?: Record<string, string>;
  expect: number;
}

/** The instructions of the generator. */
export interface LoadPlan {
  /** e.g. http://127.0.0.1:8080 */
  origin: string;
  headers: Record<string, string>;
  /** One keep-alive connection each: it sends its requests in sequence, each after the previous response. */
  connections: readonly (readonly PlannedRequest[])[];
  seconds: number;
  /** Pause between a response and the next request; default none. */
  pauseMs?: number;
}

/** The generator's measurements. */
export interface LoadResult {
  seconds: number;
  /** Latency of every response, in ms. */
  latencies: Float64Array;
  /** Mean size of a response body. */
  bytes: number;
  /** Responses with another status, and broken connections; the first one as text. */
  failures: number;
  firstFailure?: string;
  /** CPU time of the generator itself, in µs. */
  cpuMicros: number;
}
