import { spawn } from "node:child_process";
import path from "node:path";
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { connectNats, eventMigrations, recordEvent, startRelay } from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import {
  WorkspaceCreatedSchema,
  WorkspaceDeletedSchema,
  WorkspaceLockedSchema,
  WorkspaceUnlockedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger } from "@statehouse/runtime";
import {
  childEnvironment,
  followProcess,
  needs,
  ownNats,
  runProgram,
  temporaryFolder,
  waitFor,
} from "@statehouse/testing";
import { expect, test } from "vitest";
import { openBus } from "../faults/bus.ts";
import { startStack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { newLockedWorkspace, newWorkspace, useStack } from "../system/fixture.ts";
import { goEnvironment } from "./drivers.ts";

const example = path.resolve(import.meta.dirname, "../../examples/subscribers/workspace-table");
const logger = createLogger({ service: "test", level: "silent" });
/** Time limit for downloading and compiling the example, which is necessary once on each machine. */
const BUILD_MS = 600_000;

async function buildExample(folder: string): Promise<string> {
  const program = path.join(folder, "workspace-table");
  const built = await runProgram("go", ["build", "-o", program, "."], {
    ...{ cwd: example, env: goEnvironment() },
  });
  expect(built.code, built.output).toBe(0);
  return program;
}

needs("nats-server", "go")("the example of a table of workspaces in Go", () => {
  test(
    "is equal to the history, with late and repeated events and after it was killed",
    async () => {
      await using stack = new AsyncDisposableStack();
      const folder = stack.use(await temporaryFolder()).path;
      const program = await buildExample(folder);
      const server = stack.use(await ownNats());
      const nats = stack.use(connectNats({ url: server.url, name: "test" }));
      const fresh = stack.use(
        await freshDatabase({ contextName: "events", migrations: eventMigrations }),
      );
      const database = stack.use(
        await openDatabase({
          ...{ contextName: "events", url: fresh.url, entities: [], logger },
          migrations: eventMigrations,
        }),
      );
      const source = "urn:statehouse:test/workspaces";
      stack.use(startRelay({ database, nats, service: "workspaces", source, logger }));
      const record = <Schema extends DescMessage>(
        schema: Schema,
        revision: number,
        fields: MessageInitShape<Schema> & { workspaceId: string },
      ) =>
        database.transaction((em) =>
          recordEvent(em, {
            ...{ schema, subject: fields.workspaceId, changed: [] },
            fields: { ...fields, revision: BigInt(revision) },
          }),
        );
      const start = () => {
        const child = spawn(program, [], {
          env: childEnvironment({
            ...{ DATABASE_URL: fresh.url, NATS_URL: server.url },
            DEAD_LETTERS: path.join(folder, "dead-letters"),
          }),
        });
        stack.defer(() => void child.kill("SIGKILL"));
        return { child, ...followProcess(child) };
      };
      const rows = () =>
        database.query(
          "select id, name, locked_by, deleted_revision is not null as deleted from workspaces order by id",
        );

      const first = start();
      const [one, two] = ["ws-1", "ws-2"];
      await record(WorkspaceCreatedSchema, 1, { workspaceId: one, name: "old" });
      await record(WorkspaceLockedSchema, 3, { workspaceId: one, holderId: "user-1" });
      await record(WorkspaceUpdatedSchema, 2, { workspaceId: one, name: "new" });
      await record(WorkspaceCreatedSchema, 1, { workspaceId: one, name: "late" });
      await waitFor(async () => (await rows().catch(() => [])).length === 1);
      first.child.kill("SIGKILL");
      await first.exit;

      await record(WorkspaceUnlockedSchema, 4, { workspaceId: one });
      await record(WorkspaceLockedSchema, 3, { workspaceId: one, holderId: "late" });
      await record(WorkspaceDeletedSchema, 9, { workspaceId: two });
      await record(WorkspaceCreatedSchema, 5, { workspaceId: two, name: "late" });
      await record(WorkspaceCreatedSchema, 1, { workspaceId: "ws-3", name: "last" });
      const second = start();
      // Events that the killed process was processing are delivered again after 15 s.
      await expect.poll(rows, { timeout: 60_000 }).toEqual([
        { id: one, name: "new", locked_by: null, deleted: false },
        { id: two, name: null, locked_by: null, deleted: true },
        { id: "ws-3", name: "last", locked_by: null, deleted: false },
      ]);
      second.child.kill("SIGTERM");
      expect(await second.exit, second.output()).toBe(0);
    },
    BUILD_MS,
  );

  const fixture = useStack(() => startStack());

  test(
    "has the workspaces that existed before the first event, and loses those whose deletion it missed",
    async () => {
      await using stack = new AsyncDisposableStack();
      const folder = stack.use(await temporaryFolder()).path;
      const program = await buildExample(folder);
      const database = stack.use(
        await freshDatabase({ contextName: "events", migrations: eventMigrations }),
      );
      const { nats, rows } = fixture().stack;
      const url = new URL(nats.url);
      url.username = nats.login?.user ?? "";
      url.password = nats.login?.password ?? "";
      const start = () => {
        const child = spawn(program, [], {
          env: childEnvironment({
            ...{ DATABASE_URL: database.url, NATS_URL: url.href, SNAPSHOT: "on" },
            DEAD_LETTERS: path.join(folder, "dead-letters"),
          }),
        });
        stack.defer(() => void child.kill("SIGKILL"));
        return { child, ...followProcess(child) };
      };
      const equal = async () =>
        expect
          .poll(
            () =>
              database
                .query("select id, name, locked_by from workspaces order by id")
                .catch(() => []),
            { timeout: 60_000 },
          )
          .toEqual(
            await rows(
              "workspaces",
              "select id, name, lock_holder_id as locked_by from workspaces order by id",
            ),
          );
      await using bus = await waitFor(() => openBus(nats));
      const purge = async () => {
        await waitFor(async () => (await rows("workspaces", "select from outbox")).length === 0);
        await bus.manager.streams.purge("STATEHOUSE");
      };

      await newLockedWorkspace(fixture());
      const { id } = await newWorkspace(fixture());
      await purge();
      const first = start();
      await equal();
      await newWorkspace(fixture());
      await equal();
      first.child.kill("SIGTERM");
      expect(await first.exit, first.output()).toBe(0);

      await expectStatus(204, fixture().owner.api.delete(`/workspaces/${id}`));
      await purge();
      const second = start();
      await equal();
      second.child.kill("SIGTERM");
      expect(await second.exit, second.output()).toBe(0);
    },
    BUILD_MS,
  );
});
