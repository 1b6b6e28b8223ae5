import { mentions, needs, ownPostgres, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { download } from "../stack/http.ts";
import { expectStatus, rollbackTo, type StateFile } from "../stack/state.ts";
import { eventually, type FaultFixture, healAll } from "./fixture.ts";
import { acknowledge, attempted, newLockedWorkspace, two, write } from "./steps.ts";
import { useFaultFixture, useFaultFixtureOn } from "./use-fixture.ts";

type Action =
  | "soft_delete_backing_data"
  | "restore_backing_data"
  | "permanently_delete_backing_data";

const gone = "backing_data_permanently_deleted";
const soft = "backing_data_soft_deleted";

/** Creates a locked workspace with an old version and a current one. */
async function twoVersions(fixture: FaultFixture) {
  const workspaceId = await newLockedWorkspace(fixture);
  const states = two();
  const ids: string[] = [];
  for (const state of states) {
    const written = await write(fixture, workspaceId, state);
    expect(written.status).toBe(201);
    ids.push(written.body.data.id);
  }
  const [old = "", current = ""] = ids;
  return { workspaceId, state: states[0], old, current };
}

const act = ({ owner }: FaultFixture, id: string, action: Action) =>
  owner.api.post(`/state-versions/${id}/actions/${action}`);

const rollBack = ({ owner }: FaultFixture, workspaceId: string, id: string) =>
  owner.api.patch(`/workspaces/${workspaceId}/state-versions`, rollbackTo(id));

const copiesOf = (fixture: FaultFixture, id: string) =>
  fixture.rows<{ id: string }>(
    "state",
    "select id from state_versions where rollback_version_id = $1",
    [id],
  );

const shown = async ({ owner }: FaultFixture, id: string) =>
  (await expectStatus(200, owner.api.get(`/state-versions/${id}`))).body.data.attributes;

const keysOf = async ({ store }: FaultFixture, id: string) =>
  (await store.keys()).filter((key) => key.includes(id));

const bytesOf = async ({ owner, stack }: FaultFixture, id: string) =>
  download(`${stack.environments.state.PUBLIC_URL}/v1/object/${id}`, owner.token);

/** Repeats the rollback until it is confirmed, and records the confirmed version. */
async function rollBackAgain(
  fixture: FaultFixture,
  workspaceId: string,
  old: string,
  state: StateFile,
) {
  const { body } = await eventually(201, () => rollBack(fixture, workspaceId, old));
  acknowledge(fixture, workspaceId, body.data.id, state);
  return body.data.id as string;
}

/** Deletes a version permanently as the owner, and removes the record of its bytes, which are no longer checked. */
async function deletePermanently(fixture: FaultFixture, id: string) {
  fixture.acknowledged.delete(id);
  for (const action of ["soft_delete_backing_data", "permanently_delete_backing_data"] as const) {
    await expectStatus(200, act(fixture, id, action));
  }
}

const committed = (...texts: string[]) =>
  ({ direction: "answers", when: mentions("COMMIT\0"), after: mentions(...texts) }) as const;
const sent = (...texts: string[]) => ({ direction: "requests", when: mentions(...texts) }) as const;

describe("kill -9 of state", () => {
  const fixture = useFaultFixture(() => ({ store: "directory" }));

  test("during a rollback: there is no copy, and the next attempt creates one", async () => {
    proves("Rollback/what is pending is discarded; a repeat answers the same copy");
    const { stack, proxies } = fixture();
    const { workspaceId, old, state } = await twoVersions(fixture());
    const held = proxies.stateToDatabase.hold(sent("state-version.created.v1", workspaceId));
    const first = attempted(rollBack(fixture(), workspaceId, old));
    await held;
    await stack.processes.state.kill();
    expect((await first)?.status ?? 503).toBe(503);
    await healAll(fixture());
    expect(await copiesOf(fixture(), old)).toEqual([]);
    await rollBackAgain(fixture(), workspaceId, old, state);
    expect(await copiesOf(fixture(), old)).toHaveLength(1);
  });

  test("after the commit of a rollback: a repeated request returns the copy", async () => {
    proves("Rollback/what is pending is discarded; a repeat answers the same copy");
    const { stack, proxies } = fixture();
    const { workspaceId, old, state } = await twoVersions(fixture());
    const held = proxies.stateToDatabase.hold(committed("state-version.created.v1", workspaceId));
    const first = attempted(rollBack(fixture(), workspaceId, old));
    await held;
    await stack.processes.state.kill();
    expect((await first)?.status ?? 503).toBe(503);
    await healAll(fixture());
    const copy = await rollBackAgain(fixture(), workspaceId, old, state);
    expect(await copiesOf(fixture(), old)).toEqual([{ id: copy }]);
  });

  test("before the commit of a soft deletion: the version is unchanged", async () => {
    const { stack, proxies } = fixture();
    const { workspaceId, old } = await twoVersions(fixture());
    const held = proxies.stateToDatabase.hold(sent("state-version.soft-deleted.v1", workspaceId));
    const response = attempted(act(fixture(), old, "soft_delete_backing_data"));
    await held;
    await stack.processes.state.kill();
    expect((await response)?.status ?? 503).toBe(503);
    await healAll(fixture());
    expect((await shown(fixture(), old)).status).toBe("finalized");
  });

  test("after the commit of a soft deletion: it remains deleted and can be restored byte for byte", async () => {
    proves("Durability/what was acknowledged stays, whatever falls over");
    const { stack, proxies } = fixture();
    const { workspaceId, old, state } = await twoVersions(fixture());
    const held = proxies.stateToDatabase.hold(
      committed("state-version.soft-deleted.v1", workspaceId),
    );
    const response = attempted(act(fixture(), old, "soft_delete_backing_data"));
    await held;
    await stack.processes.state.kill();
    expect((await response)?.status ?? 503).toBe(503);
    await healAll(fixture());
    expect((await shown(fixture(), old)).status).toBe(soft);
    expect((await bytesOf(fixture(), old)).status).toBe(404);
    await expectStatus(400, act(fixture(), old, "soft_delete_backing_data"));
    await expectStatus(200, act(fixture(), old, "restore_backing_data"));
    expect((await bytesOf(fixture(), old)).bytes.equals(state.bytes)).toBe(true);
  });

  test("after the commit of a permanent deletion: bytes that no copy shares are deleted", async () => {
    proves("Durability/what was acknowledged stays, whatever falls over");
    const { stack, proxies } = fixture();
    const alone = await twoVersions(fixture());
    const shared = await twoVersions(fixture());
    const copy = await rollBackAgain(fixture(), shared.workspaceId, shared.old, shared.state);
    await deletePermanently(fixture(), shared.old);
    fixture().acknowledged.delete(alone.old);
    await expectStatus(200, act(fixture(), alone.old, "soft_delete_backing_data"));
    const held = proxies.stateToDatabase.hold(
      committed("state-version.permanently-deleted.v1", alone.workspaceId),
    );
    const response = attempted(act(fixture(), alone.old, "permanently_delete_backing_data"));
    await held;
    await stack.processes.state.kill();
    expect((await response)?.status ?? 503).toBe(503);
    await healAll(fixture());
    expect((await shown(fixture(), alone.old)).status).toBe(gone);
    await waitFor(async () => (await keysOf(fixture(), alone.old)).length === 0);
    expect(await keysOf(fixture(), shared.old)).toHaveLength(1);
    expect((await bytesOf(fixture(), copy)).bytes.equals(shared.state.bytes)).toBe(true);
  });

  test("during an automatic permanent deletion: the next start completes it once", async () => {
    proves("State version status/soft-deleted data is deleted for good after its days");
    const { stack, proxies, rows } = fixture();
    const { workspaceId, old } = await twoVersions(fixture());
    fixture().acknowledged.delete(old);
    await expectStatus(200, act(fixture(), old, "soft_delete_backing_data"));
    const held = proxies.stateToDatabase.hold(
      sent("state-version.permanently-deleted.v1", workspaceId),
    );
    const aged =
      "update state_versions set soft_deleted_at = now() - interval '30 days' where id = $1";
    await rows("state", aged, [old]);
    await held;
    await stack.processes.state.kill();
    expect((await keysOf(fixture(), old)).length).toBe(1);
    await healAll(fixture());
    await waitFor(async () => (await shown(fixture(), old)).status === gone);
    await waitFor(async () => (await keysOf(fixture(), old)).length === 0);
  });
});

needs("minio")("while the store is silent", () => {
  const fixture = useFaultFixture(() => ({ store: "minio" }));

  test("rollback and deletions succeed, and the bytes are deleted once it responds again", async () => {
    const { proxies } = fixture();
    const { workspaceId, old, state } = await twoVersions(fixture());
    const other = await twoVersions(fixture());
    proxies.stateToStore.freeze();
    const copy = await expectStatus(201, rollBack(fixture(), workspaceId, old));
    acknowledge(fixture(), workspaceId, copy.body.data.id, state);
    await deletePermanently(fixture(), old);
    await deletePermanently(fixture(), other.old);
    expect((await shown(fixture(), other.old)).status).toBe(gone);
    proxies.stateToStore.release();
    await waitFor(async () => (await keysOf(fixture(), other.old)).length === 0);
    expect(await keysOf(fixture(), old)).toHaveLength(1);
    expect((await bytesOf(fixture(), copy.body.data.id)).bytes.equals(state.bytes)).toBe(true);
  });

  test("and its connections break: permanently deleted data is deleted nevertheless", async () => {
    const { proxies } = fixture();
    const { old } = await twoVersions(fixture());
    proxies.stateToStore.partition();
    await deletePermanently(fixture(), old);
    expect((await bytesOf(fixture(), old)).status).toBe(404);
    await healAll(fixture());
    // A worker retries a failed deletion when its lease has ended; the lease is ended here.
    await fixture().rows("state", "update blob_deletions set due_at = now()");
    await waitFor(async () => (await keysOf(fixture(), old)).length === 0);
  });
});

describe("PostgreSQL restarted", () => {
  const { fixture, part: server } = useFaultFixtureOn(ownPostgres, (postgres) => ({ postgres }));

  test.each(["stopped", "killed"])(
    "%s: requests return 503 and succeed afterwards",
    async (end) => {
      const { workspaceId, old, current, state } = await twoVersions(fixture());
      const again = await twoVersions(fixture());
      await expectStatus(200, act(fixture(), again.old, "soft_delete_backing_data"));
      await (end === "stopped" ? server().stop() : server().kill());
      const response = await Promise.all([
        rollBack(fixture(), workspaceId, old),
        act(fixture(), old, "soft_delete_backing_data"),
        act(fixture(), again.old, "restore_backing_data"),
        bytesOf(fixture(), old),
      ]);
      expect(response.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
      await server().start();
      const copy = await rollBackAgain(fixture(), workspaceId, old, state);
      expect(await copiesOf(fixture(), old)).toEqual([{ id: copy }]);
      await eventually(200, () => act(fixture(), again.old, "restore_backing_data"));
      expect((await bytesOf(fixture(), again.old)).bytes.equals(again.state.bytes)).toBe(true);
      expect((await shown(fixture(), current)).status).toBe("finalized");
    },
  );
});
