/** A grant that is revoked and granted again while other callers read with it. */
export interface RevocationPlan {
  origin: string;
  /** The path that the grant allows to read. */
  path: string;
  /** Headers of each reader, who gets 200 with the grant and 404 without it. */
  readers: readonly Record<string, string>[];
  /** Headers of a caller that may change the grant. */
  headers: Record<string, string>;
  /** The path at which grants are created; `<grants>/<id>` deletes one. */
  grants: string;
  /** The body that creates the grant. */
  grant: string;
  grantId: string;
  seconds: number;
}

export interface RevocationResult {
  /** The number of revocations and grants. */
  changes: number;
  seconds: number;
  /** The number of reads whose expected response was certain. */
  checked: number;
  /** The number of reads with an unexpected response. */
  stale: number;
  problems: string[];
}
