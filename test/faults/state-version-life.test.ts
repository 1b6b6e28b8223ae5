import { mentions, needs, ownPostgres, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { download } from "../stack/http.ts";
import { expectStatus, rollbackTo, type StateFile } from "../stack/state.ts";
import { eventually, mendAll, type Site } from "./site.ts";
import { acknowledge, attempted, newLockedWorkspace, two, write } from "./steps.ts";
import { useSite, useSiteOn } from "./use-site.ts";

type Action =
  | "soft_delete_backing_data"
  | "restore_backing_data"
  | "permanently_delete_backing_data";

const gone = "backing_data_permanently_deleted";
const soft = "backing_data_soft_deleted";

/** A locked workspace with an old version and the current one. */
async function twoVersions(site: Site) {
  const workspaceId = await newLockedWorkspace(site);
  const states = two();
  const ids: string[] = [];
  for (const state of states) {
    const written = await write(site, workspaceId, state);
    expect(written.status).toBe(201);
    ids.push(written.body.data.id);
  }
  const [old = "", current = ""] = ids;
  return { workspaceId, state: states[0], old, current };
}

const act = ({ owner }: Site, id: string, action: Action) =>
  owner.api.post(`/state-versions/${id}/actions/${action}`);

const rollBack = ({ owner }: Site, workspaceId: string, id: string) =>
  owner.api.patch(`/workspaces/${workspaceId}/state-versions`, rollbackTo(id));

const copiesOf = (site: Site, id: string) =>
  site.rows<{ id: string }>(
    "state",
    "select id from state_versions where rollback_version_id = $1",
    [id],
  );

const shown = async ({ owner }: Site, id: string) =>
  (await expectStatus(200, owner.api.get(`/state-versions/${id}`))).body.data.attributes;

const keysOf = async ({ store }: Site, id: string) =>
  (await store.keys()).filter((key) => key.includes(id));

const bytesOf = async ({ owner, stack }: Site, id: string) =>
  download(`${stack.environments.state.PUBLIC_URL}/v1/object/${id}`, owner.token);

/** Repeats the rollback until it is confirmed, and records what it promises. */
async function rollBackAgain(site: Site, workspaceId: string, old: string, state: StateFile) {
  const { body } = await eventually(201, () => rollBack(site, workspaceId, old));
  acknowledge(site, workspaceId, body.data.id, state);
  return body.data.id as string;
}

/** Permanently deletes what a policy or an owner releases, and removes it from the record of confirmed states. */
async function deleteForGood(site: Site, id: string) {
  site.acknowledged.delete(id);
  for (const action of ["soft_delete_backing_data", "permanently_delete_backing_data"] as const) {
    await expectStatus(200, act(site, id, action));
  }
}

const committed = (...texts: string[]) =>
  ({ direction: "answers", when: mentions("COMMIT\0"), after: mentions(...texts) }) as const;
const sent = (...texts: string[]) => ({ direction: "requests", when: mentions(...texts) }) as const;

describe("kill -9 of state", () => {
  const site = useSite(() => ({ store: "directory" }));

  test("in the middle of a rollback: there is no copy, and the next attempt makes one", async () => {
    proves("Rollback/what is pending is discarded; a repeat answers the same copy");
    const { stack, wires } = site();
    const { workspaceId, old, state } = await twoVersions(site());
    const held = wires.stateToDatabase.hold(sent("state-version.created.v1", workspaceId));
    const first = attempted(rollBack(site(), workspaceId, old));
    await held;
    await stack.processes.state.kill();
    expect((await first)?.status ?? 503).toBe(503);
    await mendAll(site());
    expect(await copiesOf(site(), old)).toEqual([]);
    await rollBackAgain(site(), workspaceId, old, state);
    expect(await copiesOf(site(), old)).toHaveLength(1);
  });

  test("after the commit of a rollback: the repeat is answered the copy that was made", async () => {
    proves("Rollback/what is pending is discarded; a repeat answers the same copy");
    const { stack, wires } = site();
    const { workspaceId, old, state } = await twoVersions(site());
    const held = wires.stateToDatabase.hold(committed("state-version.created.v1", workspaceId));
    const first = attempted(rollBack(site(), workspaceId, old));
    await held;
    await stack.processes.state.kill();
    expect((await first)?.status ?? 503).toBe(503);
    await mendAll(site());
    const copy = await rollBackAgain(site(), workspaceId, old, state);
    expect(await copiesOf(site(), old)).toEqual([{ id: copy }]);
  });

  test("before the commit of a soft deletion: the version is as it was", async () => {
    const { stack, wires } = site();
    const { workspaceId, old } = await twoVersions(site());
    const held = wires.stateToDatabase.hold(sent("state-version.soft-deleted.v1", workspaceId));
    const asked = attempted(act(site(), old, "soft_delete_backing_data"));
    await held;
    await stack.processes.state.kill();
    expect((await asked)?.status ?? 503).toBe(503);
    await mendAll(site());
    expect((await shown(site(), old)).status).toBe("finalized");
  });

  test("after the commit of a soft deletion: it stays deleted, and is restored byte for byte", async () => {
    proves("Durability/what was acknowledged stays, whatever falls over");
    const { stack, wires } = site();
    const { workspaceId, old, state } = await twoVersions(site());
    const held = wires.stateToDatabase.hold(
      committed("state-version.soft-deleted.v1", workspaceId),
    );
    const asked = attempted(act(site(), old, "soft_delete_backing_data"));
    await held;
    await stack.processes.state.kill();
    expect((await asked)?.status ?? 503).toBe(503);
    await mendAll(site());
    expect((await shown(site(), old)).status).toBe(soft);
    expect((await bytesOf(site(), old)).status).toBe(404);
    await expectStatus(400, act(site(), old, "soft_delete_backing_data"));
    await expectStatus(200, act(site(), old, "restore_backing_data"));
    expect((await bytesOf(site(), old)).bytes.equals(state.bytes)).toBe(true);
  });

  test("after the commit of a permanent deletion: the bytes go, but not those that a copy shares", async () => {
    proves("Durability/what was acknowledged stays, whatever falls over");
    const { stack, wires } = site();
    const alone = await twoVersions(site());
    const shared = await twoVersions(site());
    const copy = await rollBackAgain(site(), shared.workspaceId, shared.old, shared.state);
    await deleteForGood(site(), shared.old);
    site().acknowledged.delete(alone.old);
    await expectStatus(200, act(site(), alone.old, "soft_delete_backing_data"));
    const held = wires.stateToDatabase.hold(
      committed("state-version.permanently-deleted.v1", alone.workspaceId),
    );
    const asked = attempted(act(site(), alone.old, "permanently_delete_backing_data"));
    await held;
    await stack.processes.state.kill();
    expect((await asked)?.status ?? 503).toBe(503);
    await mendAll(site());
    expect((await shown(site(), alone.old)).status).toBe(gone);
    await waitFor(async () => (await keysOf(site(), alone.old)).length === 0);
    expect(await keysOf(site(), shared.old)).toHaveLength(1);
    expect((await bytesOf(site(), copy)).bytes.equals(shared.state.bytes)).toBe(true);
  });

  test("in the middle of an automatic permanent deletion: the next start does it, once", async () => {
    proves("State version status/soft-deleted data is deleted for good after its days");
    const { stack, wires, rows } = site();
    const { workspaceId, old } = await twoVersions(site());
    site().acknowledged.delete(old);
    await expectStatus(200, act(site(), old, "soft_delete_backing_data"));
    const held = wires.stateToDatabase.hold(
      sent("state-version.permanently-deleted.v1", workspaceId),
    );
    const aged =
      "update state_versions set soft_deleted_at = now() - interval '30 days' where id = $1";
    await rows("state", aged, [old]);
    await held;
    await stack.processes.state.kill();
    expect((await keysOf(site(), old)).length).toBe(1);
    await mendAll(site());
    await waitFor(async () => (await shown(site(), old)).status === gone);
    await waitFor(async () => (await keysOf(site(), old)).length === 0);
  });
});

needs("minio")("while the store is silent", () => {
  const site = useSite(() => ({ store: "minio" }));

  test("a rollback and the deletions are answered, and the bytes go once it speaks again", async () => {
    const { wires } = site();
    const { workspaceId, old, state } = await twoVersions(site());
    const other = await twoVersions(site());
    wires.stateToStore.freeze();
    const copy = await expectStatus(201, rollBack(site(), workspaceId, old));
    acknowledge(site(), workspaceId, copy.body.data.id, state);
    await deleteForGood(site(), old);
    await deleteForGood(site(), other.old);
    expect((await shown(site(), other.old)).status).toBe(gone);
    wires.stateToStore.release();
    await waitFor(async () => (await keysOf(site(), other.old)).length === 0);
    expect(await keysOf(site(), old)).toHaveLength(1);
    expect((await bytesOf(site(), copy.body.data.id)).bytes.equals(state.bytes)).toBe(true);
  });

  test("and its connections break: what is deleted for good goes all the same", async () => {
    const { wires } = site();
    const { old } = await twoVersions(site());
    wires.stateToStore.cut();
    await deleteForGood(site(), old);
    expect((await bytesOf(site(), old)).status).toBe(404);
    await mendAll(site());
    // A failed worker retries when its lease has ended.
    await site().rows("state", "update blob_deletions set due_at = now()");
    await waitFor(async () => (await keysOf(site(), old)).length === 0);
  });
});

describe("PostgreSQL restarted", () => {
  const { site, part: server } = useSiteOn(ownPostgres, (postgres) => ({ postgres }));

  test.each(["stopped", "killed"])(
    "%s: each is 503, and works by itself afterwards",
    async (end) => {
      const { workspaceId, old, current, state } = await twoVersions(site());
      const again = await twoVersions(site());
      await expectStatus(200, act(site(), again.old, "soft_delete_backing_data"));
      await (end === "stopped" ? server().stop() : server().kill());
      const asked = await Promise.all([
        rollBack(site(), workspaceId, old),
        act(site(), old, "soft_delete_backing_data"),
        act(site(), again.old, "restore_backing_data"),
        bytesOf(site(), old),
      ]);
      expect(asked.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
      await server().start();
      const copy = await rollBackAgain(site(), workspaceId, old, state);
      expect(await copiesOf(site(), old)).toEqual([{ id: copy }]);
      await eventually(200, () => act(site(), again.old, "restore_backing_data"));
      expect((await bytesOf(site(), again.old)).bytes.equals(again.state.bytes)).toBe(true);
      expect((await shown(site(), current)).status).toBe("finalized");
    },
  );
});
