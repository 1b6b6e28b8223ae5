import { realpath, rename, symlink } from "node:fs/promises";
import { ownPostgres, waitFor } from "@statehouse/testing";
import { Client, escapeIdentifier, escapeLiteral } from "pg";
import { expect, test } from "vitest";
import { type Answer, document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { eventually, type FaultFixture } from "./fixture.ts";
import { useFaultFixtureOn } from "./use-fixture.ts";

// PostgreSQL responds, but refuses its work until an operator has changed something.

const { fixture, part: server } = useFaultFixtureOn(ownPostgres, (postgres) => ({ postgres }));

const createWorkspace = ({ owner, organization }: FaultFixture): Promise<Answer> =>
  owner.api.post(
    `/organizations/${organization}/workspaces`,
    document("workspaces", { name: unusedName("refused") }),
  );

function expectRetry({ status, headers }: Answer): void {
  expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
}

/** Runs `work` with a connection of the superuser that stays open. */
async function connected(work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: server().url("workspaces") });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

test("a full disk: a change returns 503 with Retry-After, reads succeed, and the change succeeds once there is space", async () => {
  const { owner, organization, rows } = fixture();
  // The first row of an empty table extends its file. Writing to /dev/full fails like writing to a full disk.
  const [table] = await rows<{ file: string }>(
    "workspaces",
    `select current_setting('data_directory') || '/' || pg_relation_filepath('workspaces') as file`,
  );
  // A server that has dropped the rights of root names its folder by its own entry in /proc.
  const file = await realpath((table?.file ?? "").replace("/proc/self", `/proc/${server().pid}`));
  const kept = `${file}.kept`;
  const restart = async (changeFile: () => Promise<void>) => {
    await server().stop();
    await changeFile();
    await server().start();
    await eventually(200, () => owner.api.get(`/organizations/${organization}`));
  };

  await restart(async () => {
    await rename(file, kept);
    await symlink("/dev/full", file);
  });
  for (let attempt = 0; attempt < 5; attempt++) expectRetry(await createWorkspace(fixture()));
  const listed = await owner.api.get(`/organizations/${organization}/workspaces`);
  expect([listed.status, listed.body.data]).toEqual([200, []]);

  await restart(() => rename(kept, file));
  await eventually(201, () => createWorkspace(fixture()));
});

test("a changed password: requests return 503 with Retry-After until the password is valid again", async () => {
  const { owner, organization, stack } = fixture();
  const { username, password } = new URL(server().url("workspaces"));
  const setPassword = (client: Client, text: string) =>
    client.query(`alter role ${escapeIdentifier(username)} password ${escapeLiteral(text)}`);
  const ready = async () => {
    const { OPS_PORT } = stack.environments.workspaces;
    return (await fetch(`http://127.0.0.1:${OPS_PORT}/readyz`)).status;
  };
  await connected(async (client) => {
    await setPassword(client, "another");
    try {
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename = current_user",
      );
      for (let attempt = 0; attempt < 5; attempt++) expectRetry(await createWorkspace(fixture()));
      expectRetry(await owner.api.get(`/organizations/${organization}/workspaces`));
      expect(await ready()).toBe(503);
    } finally {
      await setPassword(client, password);
    }
  });
  await waitFor(async () => (await ready()) === 200);
  await eventually(201, () => createWorkspace(fixture()));
});
