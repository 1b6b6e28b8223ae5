import { awaitedStatementCount } from "@statehouse/postgres";
import { callCount } from "@statehouse/rpc";

export interface RequestCost {
  /** SQL statements that it waits for, every BEGIN and COMMIT included; what relays send after it is not its own. */
  statements: number;
  /** Calls from service to service. */
  calls: number;
}

const SAMPLES = 8;

/**
 * What a request costs in a stack of this process, once its caches are warm: the least of several, since other
 * work in the background can only add.
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
