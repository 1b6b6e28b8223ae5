import { setTimeout as wait } from "node:timers/promises";
import { waitFor } from "@statehouse/testing";
import { mendAll, type Site } from "../faults/site.ts";
import type { Disturb } from "./history.ts";
import type { Fault } from "./step.ts";

/** How long a connection is cut or silent; waiting calls continue afterwards. */
const PAUSE_MS = 60;

const cut = async (wire: Site["wires"][keyof Site["wires"]]) => {
  wire.cut();
  await wait(PAUSE_MS);
  wire.mend();
};

const silence = async (wire: Site["wires"][keyof Site["wires"]]) => {
  wire.freeze();
  await wait(PAUSE_MS);
  wire.release();
};

const happen: Record<Fault, (site: Site) => Promise<void>> = {
  killState: ({ stack }) => stack.processes.state.kill(),
  killWorkspaces: ({ stack }) => stack.processes.workspaces.kill(),
  cutState: ({ wires }) => cut(wires.stateToDatabase),
  cutWorkspaces: ({ wires }) => cut(wires.workspacesToDatabase),
  cutBetween: ({ wires }) => cut(wires.workspacesToState),
  silentStore: ({ wires }) => silence(wires.stateToStore),
  silentState: ({ wires }) => silence(wires.workspacesToState),
};

/** Causes faults in dependencies of the site from outside, as test/faults does. */
export const disturbing =
  (site: Site): Disturb =>
  async (fault, afterMs, during) => {
    const running = during();
    await wait(afterMs);
    await happen[fault](site);
    await Promise.all([running, mendAll(site)]);
    await becomesQuiet(site);
  };

/** A transaction can continue although its caller has stopped waiting. */
async function becomesQuiet({ rows }: Site): Promise<void> {
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
    { interval: 20, what: "an end of all transactions" },
  );
}
