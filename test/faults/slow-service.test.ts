import { waitFor } from "@statehouse/testing";
import { describe, expect, test } from "vitest";
import { document, download, upload } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { expectStatus } from "../stack/state.ts";
import { eventually } from "./fixture.ts";
import {
  acknowledge,
  announce,
  lock,
  newLockedWorkspace,
  newWorkspace,
  one,
  unlock,
  write,
} from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

/**
 * The services' time limit for requests, in seconds: long enough for requests on a busy machine, and short enough for
 * the tests to wait until it has passed.
 */
const REQUEST_TIMEOUT_S = 5;
/** A number greater than a service's number of database connections. */
const MANY = 24;

const fixture = useFaultFixture(() => ({
  settings: { REQUEST_TIMEOUT: String(REQUEST_TIMEOUT_S) },
}));

const many = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: MANY }, make));

/** Returns the idle open transactions of a service, except the transaction of its relay, which waits for the bus. */
const idleTransactions = (service: "workspaces" | "state") =>
  fixture().rows(
    service,
    `select query from pg_stat_activity where datname = current_database()
       and state like 'idle in transaction%' and state_change < now() - interval '0.5 s'
       and query !~ 'outbox'`,
  );

/**
 * Expects that the requests end within five seconds after their time limit, with an error that clients retry, while
 * another service does not respond.
 */
async function expectGivenUp(responses: readonly Promise<{ status: number }>[], since: number) {
  const statuses = new Set((await Promise.all(responses)).map(({ status }) => status));
  expect([...statuses].filter((status) => status !== 503 && status !== 504)).toEqual([]);
  expect(performance.now() - since).toBeLessThan(REQUEST_TIMEOUT_S * 1000 + 5000);
}

describe("while the state service does not respond to the workspaces service", () => {
  test("unlocks time out, and other requests succeed, even on the same workspaces", async () => {
    const { proxies, owner, organization } = fixture();
    const ids = await many(() => newLockedWorkspace(fixture()));
    const since = performance.now();
    proxies.workspacesToState.freeze();
    const unlocks = ids.map((id) => unlock(fixture(), id));
    await Promise.all(
      ids.map((id) =>
        expectStatus(
          200,
          owner.api.patch(
            `/workspaces/${id}`,
            document("workspaces", { description: "meanwhile" }),
          ),
        ),
      ),
    );
    const other = await newLockedWorkspace(fixture());
    expect((await write(fixture(), other, one())).status).toBe(201);
    await expectStatus(200, owner.api.get(`/organizations/${organization}/workspaces`));
    expect(await idleTransactions("workspaces")).toEqual([]);
    expect(performance.now() - since).toBeLessThan(REQUEST_TIMEOUT_S * 1000);
    await expectGivenUp(unlocks, since);
    proxies.workspacesToState.release();
    await Promise.all(ids.map((id) => eventually(200, () => unlock(fixture(), id))));
  });

  test("a slow response within the time limit is awaited", async () => {
    const { proxies } = fixture();
    const id = await newLockedWorkspace(fixture());
    proxies.workspacesToState.delay(1500);
    expect((await unlock(fixture(), id)).status).toBe(200);
  });
});

describe("while the workspaces service does not respond to the state service", () => {
  test("creations time out; uploads, downloads and unlocks succeed", async () => {
    const { proxies, owner } = fixture();
    const ids = await many(() => newLockedWorkspace(fixture()));
    const [busy, ready] = [
      await newLockedWorkspace(fixture()),
      await newLockedWorkspace(fixture()),
    ];
    const state = one();
    const version = await announce(fixture(), busy, state);
    const written = await write(fixture(), ready, one());
    const since = performance.now();
    proxies.stateToWorkspaces.freeze();
    const creations = ids.map((id) => write(fixture(), id, one()));
    expect((await upload(version.uploadUrl, state.bytes)).status).toBe(200);
    acknowledge(fixture(), busy, version.id, state);
    const url = written.body.data.attributes["hosted-state-download-url"];
    expect((await download(url, owner.token)).status).toBe(200);
    expect((await unlock(fixture(), busy)).status).toBe(200);
    await expectStatus(200, owner.api.get(`/workspaces/${ready}/current-state-version`));
    expect(await idleTransactions("state")).toEqual([]);
    await expectGivenUp(creations, since);
    proxies.stateToWorkspaces.release();
    for (const id of ids.slice(0, 3)) await eventually(201, () => write(fixture(), id, one()));
  });
});

describe("while the access service does not respond to the workspaces service", () => {
  test("creations of organizations time out; requests for other workspaces succeed", async () => {
    const { proxies, owner } = fixture();
    const id = await newWorkspace(fixture());
    const names = Array.from({ length: MANY }, () => unusedName("org"));
    const create = (name: string) =>
      owner.api.post(
        "/organizations",
        document("organizations", { name, email: "owner@example.com" }),
      );
    const since = performance.now();
    proxies.workspacesToAccess.freeze();
    const creations = names.map(create);
    expect((await lock(fixture(), id)).status).toBe(200);
    expect((await unlock(fixture(), id)).status).toBe(200);
    expect(await idleTransactions("workspaces")).toEqual([]);
    await expectGivenUp(creations, since);
    proxies.workspacesToAccess.release();
    // A repeated request completes the creation, or returns 422 if the creation event has already completed it.
    for (const name of names.slice(0, 5)) {
      await waitFor(async () => [201, 422].includes((await create(name)).status));
      await expectStatus(200, owner.api.get(`/organizations/${name}`));
    }
  });
});

describe("while the database of the state service does not respond", () => {
  test("requests that need it time out; workspaces can be shown and locked", async () => {
    const { proxies, owner } = fixture();
    const ids = await many(() => newLockedWorkspace(fixture()));
    const since = performance.now();
    proxies.stateToDatabase.freeze();
    const responses = ids.flatMap((id) => [
      unlock(fixture(), id),
      owner.api.get(`/workspaces/${id}/current-state-version`),
    ]);
    await newLockedWorkspace(fixture());
    await expectStatus(200, owner.api.get(`/workspaces/${ids[0]}`));
    await expectGivenUp(responses, since);
    proxies.stateToDatabase.release();
    await waitFor(async () => (await unlock(fixture(), ids[0] ?? "")).status !== 503);
  });
});

test.each([
  ["workspaces", "workspacesToDatabase"],
  ["state", "stateToDatabase"],
] as const)(
  "idle database connections of %s that fell silent are discarded and replaced",
  async (_, proxy) => {
    const { proxies } = fixture();
    const ids = await many(() => newLockedWorkspace(fixture()));
    // Makes the service open as many database connections as it may open.
    await Promise.all(ids.map((id) => write(fixture(), id, one())));
    proxies[proxy].blackhole();
    const since = performance.now();
    const unlocks = await Promise.all(ids.map((id) => unlock(fixture(), id)));
    expect(performance.now() - since).toBeLessThan(REQUEST_TIMEOUT_S * 1000 + 5000);
    const failed = ids.filter((_, index) => unlocks[index]?.status !== 200);
    await Promise.all(failed.map((id) => eventually(200, () => unlock(fixture(), id))));
  },
);
