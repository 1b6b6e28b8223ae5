import { LRUCache } from "lru-cache";

/** The result of requesting a token from a bucket. */
export interface BucketState {
  /** Whether the bucket had a token. */
  allowed: boolean;
  /** The number of whole tokens that are left. */
  remaining: number;
  /** Seconds until the bucket has a token; 0 if it has one. */
  resetSeconds: number;
  /** `resetSeconds` for the header Retry-After: rounded up to whole seconds, at least one. */
  retryAfterSeconds: number;
}

/** Token buckets by key. A bucket starts full. */
export interface TokenBuckets {
  take(key: string): BucketState;
  /** Puts back a token that was taken. */
  putBack(key: string): void;
}

/** The maximum number of buckets. The bucket that has not been used for the longest time is dropped first. */
const MAX_BUCKETS = 100_000;

// Not rate-limiter-flexible: it counts in fixed windows, and the number of its keys in memory has no limit.
/** Creates buckets that hold at most `capacity` tokens. Each bucket receives `perSecond` tokens a second. */
export function createTokenBuckets({
  capacity,
  perSecond,
}: {
  capacity: number;
  perSecond: number;
}): TokenBuckets {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: MAX_BUCKETS });
  const current = (key: string) => {
    const at = performance.now();
    const bucket = buckets.get(key) ?? { tokens: capacity, at };
    bucket.tokens = Math.min(capacity, bucket.tokens + ((at - bucket.at) / 1000) * perSecond);
    bucket.at = at;
    buckets.set(key, bucket);
    return bucket;
  };
  return {
    take(key) {
      const bucket = current(key);
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      const resetSeconds = Math.max(0, 1 - bucket.tokens) / perSecond;
      return {
        allowed,
        remaining: Math.floor(bucket.tokens),
        resetSeconds,
        retryAfterSeconds: Math.max(1, Math.ceil(resetSeconds)),
      };
    },
    putBack(key) {
      const bucket = current(key);
      bucket.tokens = Math.min(capacity, bucket.tokens + 1);
    },
  };
}
