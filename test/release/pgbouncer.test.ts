import path from "node:path";
import { type Environment, serviceNames } from "@statehouse/standalone/environments";
import { childEnvironment, runProgram, temporaryFolder } from "@statehouse/testing";
import { expect, test } from "vitest";
import { startStack } from "../stack/stack.ts";
import { expectStatus, stateFile, writeState } from "../stack/state.ts";
import { newWorkspace, populate } from "../system/fixture.ts";
import { smoke } from "../system/smoke.ts";
import { startPgBouncer } from "./pgbouncer.ts";

const program = path.resolve(import.meta.dirname, "../../services/cli/main.ts");
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
  "with %s pooling by PgBouncer everything works, also commands, and when transactions share connections",
  { timeout: 300_000 },
  async (pooling) => {
    await using started = new AsyncDisposableStack();
    const stack = await start(started, pooling);
    const fixture = await populate(stack);
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

    const { username } = await stack.people.newUser();
    const { access, workspaces, state } = stack.environments;
    const { DATABASE_POOLING: _, ...stateWithoutPooling } = state;
    const databases = {
      ACCESS_DATABASE_URL: access.DATABASE_URL ?? "",
      WORKSPACES_DATABASE_URL: workspaces.DATABASE_URL ?? "",
      STATE_DATABASE_URL: state.DATABASE_URL ?? "",
    };
    const folder = started.use(await temporaryFolder()).path;
    const commands: [command: string, settings: Environment][] = [
      ["preflight state", state],
      ["rotate-keys state", stateWithoutPooling],
      ["fsck", stateWithoutPooling],
      [`export ${path.join(folder, "states")}`, { ...stateWithoutPooling, ...databases }],
      [`user suspend ${username}`, access],
      ["audit export _", databases],
    ];
    for (const [command, settings] of commands) {
      const args = [program, ...command.split(" ")];
      const env = childEnvironment(settings);
      expect(await runProgram(process.execPath, args, { env }), command).toMatchObject({ code: 0 });
    }
  },
);
