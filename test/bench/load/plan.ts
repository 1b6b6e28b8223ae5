/** One request and its expected status. */
export interface PlannedRequest {
  method: "GET" | "POST";
  path: string;
  body?: string;
  /** Overrides the value of the plan. */
  headers?: Record<string, string>;
  expect: number;
}

/** The instructions of the generator. */
export interface LoadPlan {
  /** For example http://127.0.0.1:8080. */
  origin: string;
  headers: Record<string, string>;
  /** The keep-alive connections. Each sends its requests in sequence, each request after the previous response. */
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
  /** The number of responses with another status and of broken connections, with the first one as text. */
  failures: number;
  firstFailure?: string;
  /** CPU time of the generator itself, in µs. */
  cpuMicros: number;
}
