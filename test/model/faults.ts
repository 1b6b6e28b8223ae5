import { setTimeout as wait } from "node:timers/promises";
import { waitFor } from "@statehouse/testing";
import { type FaultFixture, healAll } from "../faults/fixture.ts";
import type { Disturb } from "./history.ts";
import type { Fault } from "./step.ts";

/** How long a connection is broken or silent, in ms. Calls that wait for a silent connection continue afterwards. */
const PAUSE_MS = 60;

const cut = async (proxy: FaultFixture["proxies"][keyof FaultFixture["proxies"]]) => {
  proxy.partition();
  await wait(PAUSE_MS);
  proxy.heal();
};

const silence = async (proxy: FaultFixture["proxies"][keyof FaultFixture["proxies"]]) => {
  proxy.freeze();
  await wait(PAUSE_MS);
  proxy.release();
};

const happen: Record<Fault, (fixture: FaultFixture) => Promise<void>> = {
  killState: ({ stack }) => stack.processes.state.kill(),
  killWorkspaces: ({ stack }) => stack.processes.workspaces.kill(),
  cutState: ({ proxies }) => cut(proxies.stateToDatabase),
  cutWorkspaces: ({ proxies }) => cut(proxies.workspacesToDatabase),
  cutBetween: ({ proxies }) => cut(proxies.workspacesToState),
  silentStore: ({ proxies }) => silence(proxies.stateToStore),
  silentState: ({ proxies }) => silence(proxies.workspacesToState),
};

/** Returns a function that causes a fault in the fixture's processes or connections, as the tests in test/faults do. */
export const disturbing =
  (fixture: FaultFixture): Disturb =>
  async (fault, afterMs, during) => {
    const running = during();
    await wait(afterMs);
    await happen[fault](fixture);
    await Promise.all([running, healAll(fixture)]);
    await becomesQuiet(fixture);
  };

/** Waits until no transaction is in progress: a transaction can continue after its caller has given up. */
async function becomesQuiet({ rows }: FaultFixture): Promise<void> {
  const busy = async () => {
    const found = await Promise.all(
      (["state", "workspaces"] as const).map((database) =>
        rows(
          database,
          `select from pg_stat_activity where datname = current_database()
             and pid <> pg_backend_pid() and state not in ('idle', 'disabled')`,
        ),
      ),
    );
    return found.flat().length > 0;
  };
  await waitFor(
    async () => {
      if (await busy()) return false;
      await wait(20);
      return !(await busy());
    },
    { interval: 20, what: "the end of all transactions" },
  );
}
