import { migrations } from "@statehouse/access/migrations";
import { freshDatabase } from "@statehouse/postgres/testing";
import { newServiceKeys } from "@statehouse/testing";
import { expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

test("the command replays the dead letters of each consumer", async () => {
  await using fresh = await freshDatabase({ contextName: "access", migrations });
  const { settingsOf } = await newServiceKeys("access");
  const environment = {
    DATABASE_URL: fresh.url,
    ...settingsOf("access"),
  };
  const addDeadLetter = (consumer: string, type: string) =>
    fresh.query(
      `insert into dead_letters
         (consumer, event_id, type, source, subject, revision, message, time, failures, error)
       values ($1, 'e', $2, 'statehouse', 'ws-1', 1, '{"workspaceId":"ws-1","runId":"run-1"}', now(), 8, 'then')`,
      [consumer, type],
    );
  await addDeadLetter("access-ended-runs", "statehouse.workspaces.run.ended.v1");
  const { code, stdout } = await statehouse(["replay-dead-letters", "access"], environment);
  expect(stdout).toContain("access-ended-runs: 1 replayed, 0 failed");
  expect(code).toBe(0);
  expect(await fresh.query("select from dead_letters")).toEqual([]);
});
