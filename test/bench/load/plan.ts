/** One request and its expected status. */
export interface PlannedRequest {
  method: "GET" | "POST";
  path: string;
  body?: string;
  /** Headers of this request; default: the headers of the plan. */
  headers?: Record<string, string>;
  expect: number;
}

/** The requests that the load generator sends. */
export interface LoadPlan {
  /** Origin of the server, for example http://127.0.0.1:8080. */
  origin: string;
  headers: Record<string, string>;
  /**
   * The requests of each keep-alive connection. A connection sends its next request after it has received the previous
   * response.
   */
  connections: readonly (readonly PlannedRequest[])[];
  seconds: number;
  /** Pause between a response and the next request in ms; default none. */
  pauseMs?: number;
}

/** The measurements of the load generator. */
export interface LoadResult {
  seconds: number;
  /** Latency of each response in ms. */
  latencies: Float64Array;
  /** Mean size of a response body in bytes. */
  bytes: number;
  /** Number of responses with an unexpected status plus number of broken connections. */
  failures: number;
  /** Describes the first unexpected response or broken connection. */
  firstFailure?: string;
  /** CPU time of the generator itself, in µs. */
  cpuMicros: number;
}
