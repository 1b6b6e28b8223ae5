import { serviceNames } from "@statehouse/standalone/environments";
import { test } from "vitest";
import { startStack } from "../stack/stack.ts";
import { expectStatus, stateFile, writeState } from "../stack/state.ts";
import { newWorkspace, populate } from "../system/fixture.ts";
import { smoke } from "../system/smoke.ts";
import { startPgBouncer } from "./pgbouncer.ts";

const CLIENTS = 12;
const ROUNDS = 5;

const start = async (stack: AsyncDisposableStack, pooling: "session" | "transaction") => {
  const pooler = stack.use(await startPgBouncer(pooling));
  return stack.use(
    await startStack({
      settings: { DATABASE_POOLING: pooling },
      async rewire(environments) {
        for (const name of serviceNames) {
          const { DATABASE_URL: url } = environments[name];
          if (url) environments[name].DATABASE_URL = pooler.through(url);
        }
      },
    }),
  );
};

test.each(["session", "transaction"] as const)(
  "with %s pooling by PgBouncer everything works, also when transactions share connections",
  { timeout: 300_000 },
  async (pooling) => {
    await using started = new AsyncDisposableStack();
    const fixture = await populate(await start(started, pooling));
    await smoke(fixture);
    const { api } = fixture.owner;
    const client = async () => {
      const { id } = await newWorkspace(fixture);
      for (let serial = 1; serial <= ROUNDS; serial++) {
        await writeState(api, id, stateFile({ serial, lineage: id }));
        await expectStatus(200, api.get(`/workspaces/${id}`));
        await expectStatus(200, api.get(`/workspaces/${id}/current-state-version`));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  },
);
