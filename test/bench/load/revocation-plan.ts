/** A grant that is taken away and given back while others read what it opens. */
export interface RevocationPlan {
  origin: string;
  /** What the grant opens. */
  path: string;
  /** Headers of each reader: 200 with the grant, 404 without. */
  readers: readonly Record<string, string>[];
  /** Headers of whoever may change it. */
  headers: Record<string, string>;
  /** Where grants are made; `<grants>/<id>` takes one away. */
  grants: string;
  /** The body that makes it. */
  grant: string;
  grantId: string;
  seconds: number;
}

export interface RevocationResult {
  /** Revocations and grants. */
  changes: number;
  seconds: number;
  /** Reads whose answer was certain. */
  checked: number;
  /** Those that said something else. */
  stale: number;
  problems: string[];
}
