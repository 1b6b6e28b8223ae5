import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { migrations } from "@statehouse/state/migrations";
import { startServiceFakes } from "@statehouse/state/test/service-fakes";
import { newKeyRing, newServiceKeys } from "@statehouse/testing";
import { expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

test("the command replays dead letters, lists those that still fail, and can be repeated", async () => {
  await using fresh = await freshDatabase({ contextName: "state", migrations });
  const { settingsOf, publicKeys: keys } = await newServiceKeys("state");
  const logger = createLogger({ service: "test", level: "silent" });
  await using others = startServiceFakes({ keys, logger });
  others.delete("ws-aaaaaaaaaaaaaaaa");
  others.place("ws-bbbbbbbbbbbbbbbb");
  const environment = {
    WORKSPACES_ADDRESS: `127.0.0.1:${(await others.listen()).port}`,
    DATABASE_URL: fresh.url,
    PUBLIC_URL: "https://state.example",
    ...settingsOf("state"),
    UPLOAD_TOKEN_KEYS: newKeyRing(),
    SEALING_KEYS: newKeyRing(),
    BLOB_STORE: "directory",
    BLOB_DIRECTORY: "/nonexistent",
  };
  const addDeadLetter = (id: string, message: string) =>
    fresh.query(
      `insert into dead_letters
         (consumer, event_id, type, source, subject, revision, message, time, failures, error)
       values ('state-deleted', $1, 'statehouse.workspaces.workspace.deleted.v1',
         'statehouse/workspaces', $1, 1, $2, now(), 8, 'Error: then')`,
      [id, message],
    );
  await addDeadLetter("ws-aaaaaaaaaaaaaaaa", '{"workspaceId":"ws-aaaaaaaaaaaaaaaa"}');
  await addDeadLetter("ws-bbbbbbbbbbbbbbbb", '{"workspaceId":"ws-bbbbbbbbbbbbbbbb"}');
  await addDeadLetter("broken", "no message");

  const first = await statehouse(["replay-dead-letters", "state"], environment);
  expect(first).toMatchObject({ code: 1, stderr: "" });
  expect(first.stdout).toContain("state-deleted: 2 replayed, 1 failed\n  broken statehouse.");
  // The event about `ws-bbbbbbbbbbbbbbbb` also says that its workspace is deleted, but the workspaces service does not
  // confirm the deletion.
  const dropped = "select workspace_id from workspace_states where dropped_at is not null";
  expect(await fresh.query(dropped)).toEqual([{ workspace_id: "ws-aaaaaaaaaaaaaaaa" }]);
  const rows = await fresh.query("select event_id, failures, error from dead_letters");
  expect(rows).toEqual([{ event_id: "broken", failures: 9, error: expect.any(String) }]);

  await fresh.query("delete from dead_letters");
  const second = await statehouse(["replay-dead-letters", "state"], environment);
  expect(second).toMatchObject({
    code: 0,
    stdout: ["state-updated", "state-deleted", "state-deleted-users"]
      .map((consumer) => `${consumer}: 0 replayed, 0 failed\n`)
      .join(""),
  });
});

test("invalid settings are reported in one sentence", async () => {
  const { code, stderr } = await statehouse(["replay-dead-letters", "state"], {});
  expect(code).toBe(1);
  expect(stderr).toContain("DATABASE_URL: is required but not set");
});
