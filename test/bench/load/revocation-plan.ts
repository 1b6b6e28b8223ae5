/** A grant that is revoked and granted while other callers read what it opens. */
export interface RevocationPlan {
  origin: string;
  /** The path that the grant opens. */
  path: string;
  /** Headers of each reader: 200 with the grant, 404 without. */
  readers: readonly Record<string, string>[];
  /** Headers of a caller that may change it. */
  headers: Record<string, string>;
  /** Where grants are created; `<grants>/<id>` deletes one. */
  grants: string;
  /** The body that creates it. */
  grant: string;
  grantId: string;
  seconds: number;
}

export interface RevocationResult {
  /** Revocations and grants. */
  changes: number;
  seconds: number;
  /** Reads whose expected response was certain. */
  checked: number;
  /** Reads with an unexpected response. */
  stale: number;
  problems: string[];
}
