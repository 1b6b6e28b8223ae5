import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Api, api, document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { costOf, writeCostOf } from "../stack/request-cost.ts";
import { type Stack, startStack } from "../stack/stack.ts";
import {
  announcement,
  expectStatus,
  inlineState,
  type StateFile,
  stateFile,
  writeState,
} from "../stack/state.ts";

// The number of SQL statements and of calls between services for a read must not increase over time or with the number
// of rows.
describe("the cost of a request", () => {
  let stack: Stack;
  let caller: Api;
  let organization: string;
  let workspaceId: string;

  const newWorkspaces = async (count: number): Promise<string> => {
    let id = "";
    for (let index = 0; index < count; index++) {
      const created = await expectStatus(
        201,
        caller.post(
          `/organizations/${organization}/workspaces`,
          document("workspaces", {
            name: `w-${crypto.randomUUID()}`,
            "execution-mode": "local",
            "tag-names": ["blue", "green"],
          }),
        ),
      );
      id = created.body.data.id;
    }
    return id;
  };
  const get = (path: string) => costOf(() => expectStatus(200, caller.get(path)));

  beforeAll(async () => {
    stack = await startStack({ blobs: "directory" });
    caller = api(stack.url, (await stack.people.newUser()).token);
    organization = await newOrganization(caller);
    workspaceId = await newWorkspaces(1);
    await expectStatus(201, writeState(caller, workspaceId, stateFile({ resources: 2 })));
    const outputs = `/workspaces/${workspaceId}/current-state-version-outputs`;
    await waitFor(async () => (await caller.get(outputs)).status === 200);
  });
  afterAll(() => stack[Symbol.asyncDispose]());

  test("showing a workspace takes two statements and two calls", async () => {
    expect(await get(`/workspaces/${workspaceId}`)).toEqual({ statements: 2, calls: 2 });
  });

  test("showing a workspace by its name takes two statements and two calls", async () => {
    const shown = await expectStatus(200, caller.get(`/workspaces/${workspaceId}`));
    const path = `/organizations/${organization}/workspaces/${shown.body.data.attributes.name}`;
    expect(await get(path)).toEqual({ statements: 2, calls: 2 });
  });

  test("showing the current state version takes two statements and two calls", async () => {
    const path = `/workspaces/${workspaceId}/current-state-version`;
    expect(await get(path)).toEqual({ statements: 2, calls: 2 });
  });

  test("listing the current outputs takes two statements and two calls", async () => {
    const path = `/workspaces/${workspaceId}/current-state-version-outputs`;
    expect(await get(path)).toEqual({ statements: 2, calls: 2 });
  });

  test("listing 20 workspaces takes at most four statements for any total", async () => {
    const list = `/organizations/${organization}/workspaces?page%5Bsize%5D=20`;
    const few = await get(list);
    expect(few.statements).toBeLessThanOrEqual(4);
    expect(few.calls).toBe(2);
    await newWorkspaces(30);
    expect(await get(list)).toEqual(few);
  });

  const act = (action: string) =>
    expectStatus(200, caller.post(`/workspaces/${workspaceId}/actions/${action}`));
  // To authenticate, each request reads its token in the access service.
  const authentications = (statements: number) => ({
    statements,
    transactions: statements,
    roundTrips: statements,
  });

  let versionsPath: string;
  /** Measures the cost of writing a state to a new workspace, which is locked once. Each sample writes a new state. */
  const stateWrite = async (write: (state: StateFile) => Promise<unknown>) => {
    const id = await newWorkspaces(1);
    versionsPath = `/workspaces/${id}/state-versions`;
    await expectStatus(200, caller.post(`/workspaces/${id}/actions/lock`));
    const { lineage } = stateFile();
    let serial = 0;
    return writeCostOf(() => write(stateFile({ lineage, serial: ++serial, resources: 12 })));
  };

  // Locking and unlocking each run a transaction of four statements in two round trips. The first round trip begins the
  // transaction and reads the row. The second changes the row, inserts the event and the audit record, reads the
  // document, and commits. Unlocking also reads the holder, and seals the epoch in the state service with a transaction
  // of the same kind.
  test("locking and unlocking has a fixed cost", async () => {
    const cost = await writeCostOf(async () => {
      await act("lock");
      await act("unlock");
    });
    expect(cost).toMatchObject({
      ...{ statements: 15, transactions: 6, roundTrips: 9, calls: 5, waits: 3, writes: 11 },
      services: {
        access: authentications(2),
        workspaces: { statements: 9, transactions: 3, roundTrips: 5 },
        state: { statements: 4, transactions: 1, roundTrips: 2 },
      },
    });
  });

  test("creating a workspace has a fixed cost", async () => {
    const name = () => ({ name: `w-${crypto.randomUUID()}` });
    const path = `/organizations/${organization}/workspaces`;
    const cost = await writeCostOf(() =>
      expectStatus(201, caller.post(path, document("workspaces", name()))),
    );
    expect(cost).toMatchObject({
      ...{ statements: 5, transactions: 2, roundTrips: 3, calls: 2, waits: 1, writes: 4 },
      services: {
        access: authentications(1),
        workspaces: { statements: 4, transactions: 1, roundTrips: 2 },
      },
    });
  });

  // The gateway takes the path of a client: it creates the version, uploads the bytes to its URL and reads the finalized
  // version. The read of the version is the only difference from writing state by its upload URL.
  test("writing inline state has a fixed cost", async () => {
    const cost = await stateWrite((state) =>
      expectStatus(201, caller.post(versionsPath, inlineState(state))),
    );
    expect(cost).toMatchObject({
      ...{ statements: 15, transactions: 7, roundTrips: 9, waits: 3 },
      services: {
        access: authentications(2),
        workspaces: { statements: 1, transactions: 1, roundTrips: 1 },
        state: { statements: 12, transactions: 4, roundTrips: 6 },
      },
    });
  });

  // The workspaces service reads the lock. The creation and the upload each use two round trips of the state service:
  // the first begins the transaction and reads the rows that the write depends on; the second writes all changes, reads
  // the document, and commits. The upload also reads the version before the bytes are received, and the access service
  // checks the creator's token afterwards.
  test("writing state by its upload URL has a fixed cost", async () => {
    const cost = await stateWrite(async (state) => {
      const { body } = await expectStatus(201, caller.post(versionsPath, announcement(state)));
      const url: string = body.data.attributes["hosted-state-upload-url"];
      const { status } = await fetch(url, { method: "PUT", body: Buffer.from(state.bytes) });
      expect(status).toBe(200);
    });
    expect(cost).toMatchObject({
      ...{ statements: 14, transactions: 6, roundTrips: 8, waits: 3 },
      services: {
        access: authentications(2),
        workspaces: { statements: 1, transactions: 1, roundTrips: 1 },
        state: { statements: 11, transactions: 3, roundTrips: 5 },
      },
    });
  });

  test("includes take a fixed number of calls for any number of rows", async () => {
    const list = `/organizations/${organization}/workspaces?include=organization,project`;
    const two = await get(`${list}&page%5Bsize%5D=2`);
    expect(await get(`${list}&page%5Bsize%5D=20`)).toEqual(two);
  });
});
