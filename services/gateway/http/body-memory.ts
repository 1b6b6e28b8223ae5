/** The memory that the body of one request uses. Disposal releases it. */
export interface BodyLease extends Disposable {
  /** Reserves this many more bytes; returns false if they are not available. */
  take(bytes: number): boolean;
}

export interface BodyMemory {
  /** Creates the lease for one request. `principal` is the type and id of the principal that sent it. */
  lease(principal: string): BodyLease;
}

/**
 * The part of the memory for all bodies that one principal may use. The largest allowed body is accepted even if it
 * exceeds this part.
 */
const SHARE = 1 / 4;

/**
 * Limits the memory that the bodies of all requests use, and the memory that the bodies of each principal use, so that
 * one principal cannot block the others.
 */
export function createBodyMemory(limits: { total: number; largestBody: number }): BodyMemory {
  const total = Math.max(limits.total, limits.largestBody);
  const share = Math.max(total * SHARE, limits.largestBody);
  const held = new Map<string, number>();
  let all = 0;
  return {
    lease(principal) {
      let own = 0;
      const add = (bytes: number) => {
        all += bytes;
        own += bytes;
        const sum = (held.get(principal) ?? 0) + bytes;
        if (sum === 0) held.delete(principal);
        else held.set(principal, sum);
      };
      return {
        take(bytes) {
          const available = Math.min(total - all, share - (held.get(principal) ?? 0));
          if (bytes > available) return false;
          add(bytes);
          return true;
        },
        [Symbol.dispose]: () => add(-own),
      };
    },
  };
}
