import { waitFor } from "@statehouse/testing";
import { expect } from "vitest";
import { download } from "../stack/http.ts";
import { expectStatus } from "../stack/state.ts";
import { endLeases, eventually, type FaultFixture, sweep } from "./fixture.ts";
import { brokenPromises, differences, unfinished } from "./truth.ts";

/** A time limit that is longer than the bus waits for the acknowledgements of a killed consumer. */
const SETTLING_MS = 60_000;

/**
 * Checks what must hold after every fault: every workspace can be locked and unlocked, all background work is finished,
 * the services agree, confirmed data is stored byte for byte, and the store contains no key without a row.
 */
export async function expectWhole(fixture: FaultFixture): Promise<void> {
  await expectEveryLockOpens(fixture);
  await endLeases(fixture);
  await becomesEmpty("unfinished work", () => unfinished(fixture));
  await becomesEmpty("differences between the services", () => differences(fixture));
  expect(await brokenPromises(fixture)).toEqual([]);
  await expectAcknowledgedStates(fixture);
  await expectNoOwnerlessBlobs(fixture);
}

/** Waits until the list is empty. After the time limit, throws an error with the last content of the list. */
async function becomesEmpty(what: string, list: () => Promise<string[]>): Promise<void> {
  let last: string[] = [];
  const isEmpty = async () => {
    last = await list();
    return last.length === 0;
  };
  await waitFor(isEmpty, { timeout: SETTLING_MS, interval: 100, what }).catch((error: unknown) => {
    throw new Error(`${what}:\n${last.join("\n")}`, { cause: error });
  });
}

async function expectEveryLockOpens({ rows, owner, checked }: FaultFixture): Promise<void> {
  // An interrupted safe deletion keeps its deletion lock until the lock's lease ends, so this statement ends the lease.
  await rows(
    "workspaces",
    "update workspaces set deletion_lock_until = now() where deletion_lock_until > now()",
  );
  const workspaces = await rows<{ id: string; locked: boolean }>(
    "workspaces",
    `select id, lock_holder_id is not null as locked from workspaces
     where lock_holder_id is not null or id <> all($1)`,
    [[...checked]],
  );
  const open = async ({ id, locked }: { id: string; locked: boolean }) => {
    const act = (action: string) =>
      eventually(200, () => owner.api.post(`/workspaces/${id}/actions/${action}`));
    if (locked) await act("force-unlock");
    await act("lock");
    await act("unlock");
    checked.add(id);
  };
  // Checks only six workspaces at a time, because this is not a load test.
  while (workspaces.length > 0) await Promise.all(workspaces.splice(0, 6).map(open));
}

async function expectAcknowledgedStates({ acknowledged, owner }: FaultFixture): Promise<void> {
  for (const [id, { bytes }] of acknowledged) {
    const { body } = await expectStatus(200, owner.api.get(`/state-versions/${id}`));
    expect(body.data.attributes.status).toBe("finalized");
    const kept = await download(body.data.attributes["hosted-state-download-url"], owner.token);
    expect(kept.status).toBe(200);
    expect(kept.bytes.equals(bytes), `the bytes of ${id}`).toBe(true);
  }
}

async function expectNoOwnerlessBlobs(fixture: FaultFixture): Promise<void> {
  const ownerless = async () => {
    // Reads the keys of the store before the rows. A deletion in between can then cause a key without a row, which is
    // checked again, but never a row without a key.
    const there = await fixture.store.keys();
    const owned = await fixture.rows<{ key: string }>(
      "state",
      "select key from blobs order by key",
    );
    const kept = new Set(owned.map(({ key }) => key));
    // Checks the opposite: every row must have its bytes.
    expect(there).toEqual(expect.arrayContaining([...kept]));
    return there.filter((key) => !kept.has(key));
  };
  if ((await ownerless()).length === 0) return;
  await sweep(fixture, async () => (await ownerless()).length === 0);
}
