import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { freshDatabase } from "@statehouse/postgres/testing";
import { generateAssertionKey } from "@statehouse/rpc";
import { childEnvironment } from "@statehouse/testing";
import { expect, test } from "vitest";
import { migrations } from "../store/migrations.ts";

const program = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

const run = (environment: Record<string, string>) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [program, "replay-dead-letters", "workspaces"],
      { env: childEnvironment(environment) },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

test("the command replays the dead letters of each consumer", async () => {
  await using fresh = await freshDatabase({ contextName: "workspaces", migrations });
  const { privateJwk, publicJwk } = await generateAssertionKey();
  const environment = {
    DATABASE_URL: fresh.url,
    ASSERTION_PRIVATE_KEY: JSON.stringify(privateJwk),
    ASSERTION_PUBLIC_KEYS: JSON.stringify({ workspaces: [publicJwk] }),
    SEALING_KEYS: `k1:${randomBytes(32).toString("base64")}`,
  };
  const addDeadLetter = (consumer: string, type: string) =>
    fresh.query(
      `insert into dead_letters
         (consumer, event_id, type, source, subject, revision, message, time, failures, error)
       values ($1, 'e', $2, 'statehouse', 'ws-1', 1, '{"workspaceId":"ws-1"}', now(), 8, 'then')`,
      [consumer, type],
    );
  await addDeadLetter("workspaces-workspace-state", "statehouse.state.workspace-state.changed.v1");
  await addDeadLetter("workspaces-unsettled", "statehouse.workspaces.workspace.deleted.v1");
  const { code, stdout } = await run(environment);
  expect(stdout).toContain("workspaces-workspace-state: 1 replayed, 0 failed");
  expect(stdout).toContain("workspaces-unsettled: 1 replayed, 0 failed");
  expect(code).toBe(0);
  expect(await fresh.query("select from dead_letters")).toEqual([]);
});
