import { statementCount } from "@statehouse/postgres";
import { callCount } from "@statehouse/rpc";

export interface RequestCost {
  /** SQL statements, every BEGIN and COMMIT included. */
  statements: number;
  /** Calls from service to service. */
  calls: number;
}

const SAMPLES = 8;

/**
 * What a request costs in a stack of this process, once its caches are warm: the least of several, since
 * relays and other work in the background send statements too, but can only add.
 */
export async function costOf(send: () => Promise<unknown>): Promise<RequestCost> {
  await send();
  const samples: RequestCost[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    const before = { statements: statementCount(), calls: callCount() };
    await send();
    samples.push({
      statements: statementCount() - before.statements,
      calls: callCount() - before.calls,
    });
  }
  return {
    statements: Math.min(...samples.map(({ statements }) => statements)),
    calls: Math.min(...samples.map(({ calls }) => calls)),
  };
}
