import { freshDatabase } from "@statehouse/postgres/testing";
import { WorkspaceStateService } from "@statehouse/proto/statehouse/state/v1/workspace_state";
import { createRpcServer, implement } from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";
import { newKeyRing, newServiceKeys } from "@statehouse/testing";
import { migrations } from "@statehouse/workspaces/migrations";
import { expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

/** Creates a state service that has no state of any workspace. */
function emptyState(keys: Parameters<typeof createRpcServer>[0]["keys"]) {
  const notCalled = async (): Promise<never> => {
    throw new Error("not called in this test");
  };
  return createRpcServer({
    name: "state",
    keys,
    logger: createLogger({ service: "test", level: "silent" }),
    context: async () => ({}),
    bindings: [
      implement(WorkspaceStateService, {
        sealLock: notCalled,
        setPlacement: notCalled,
        dropWorkspace: notCalled,
        getManagedResources: notCalled,
        listWorkspaceStates: async () => ({}),
      }),
    ],
  });
}

test("the command replays the dead letters of each consumer", async () => {
  await using fresh = await freshDatabase({ contextName: "workspaces", migrations });
  const { publicKeys, settingsOf } = await newServiceKeys("workspaces");
  await using state = emptyState(publicKeys);
  const { port } = await state.listen({ host: "127.0.0.1", port: 0 });
  const environment = {
    STATE_ADDRESS: `127.0.0.1:${port}`,
    DATABASE_URL: fresh.url,
    ...settingsOf("workspaces"),
    SEALING_KEYS: newKeyRing(),
  };
  const addDeadLetter = (consumer: string, type: string) =>
    fresh.query(
      `insert into dead_letters
         (consumer, event_id, type, source, subject, revision, message, time, failures, error)
       values ($1, 'e', $2, 'statehouse', 'ws-1', 1, '{"workspaceId":"ws-1"}', now(), 8, 'then')`,
      [consumer, type],
    );
  await addDeadLetter("workspaces-workspace-state", "statehouse.state.workspace-state.changed.v1");
  await addDeadLetter("workspaces-deleted", "statehouse.workspaces.workspace.deleted.v1");
  const { code, stdout } = await statehouse(["replay-dead-letters", "workspaces"], environment);
  expect(stdout).toContain("workspaces-workspace-state: 1 replayed, 0 failed");
  expect(stdout).toContain("workspaces-deleted: 1 replayed, 0 failed");
  expect(code).toBe(0);
  expect(await fresh.query("select from dead_letters")).toEqual([]);
});
