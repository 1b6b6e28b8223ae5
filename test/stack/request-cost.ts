import { awaitedStatementCount } from "@statehouse/postgres";
import { callCount } from "@statehouse/rpc";

export interface RequestCost {
  /**
   * Number of SQL statements that finish before the response, including every BEGIN and COMMIT. Later statements of
   * relays are not counted.
   */
  statements: number;
  /** Number of calls between services. */
  calls: number;
}

const SAMPLES = 8;

/**
 * Measures the cost of a request in a stack of this process with warm caches. Returns the minimum of several
 * measurements, because background work only adds to it.
 */
export async function costOf(send: () => Promise<unknown>): Promise<RequestCost> {
  await send();
  const samples: RequestCost[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const before = { statements: awaitedStatementCount(), calls: callCount() };
    await send();
    samples.push({
      statements: awaitedStatementCount() - before.statements,
      calls: callCount() - before.calls,
    });
  }
  return {
    statements: Math.min(...samples.map(({ statements }) => statements)),
    calls: Math.min(...samples.map(({ calls }) => calls)),
  };
}
