/**
 * A measurement that repeatedly revokes a grant and creates it again, while other callers read an object that only this
 * grant allows them to read.
 */
export interface RevocationPlan {
  origin: string;
  /** The path of the object, which readers may read only while they have the grant. */
  path: string;
  /** Request headers of each reader, which receives 200 with the grant and 404 without it. */
  readers: readonly Record<string, string>[];
  /** Request headers of a caller that may change the grant. */
  headers: Record<string, string>;
  /** The path for creating grants; a DELETE of `<grants>/<id>` revokes one. */
  grants: string;
  /** The request body that creates the grant. */
  grant: string;
  grantId: string;
  seconds: number;
}

export interface RevocationResult {
  /** Number of times that the grant was revoked or created. */
  changes: number;
  seconds: number;
  /** Number of reads that did not overlap with a change of the grant. Only one response is correct for such a read. */
  checked: number;
  /** Number of `checked` reads that returned a response other than the correct one. */
  stale: number;
  problems: string[];
}
