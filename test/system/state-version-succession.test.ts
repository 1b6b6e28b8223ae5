import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { announcement, inlineState, stateFile, writeState } from "../stack/state.ts";
import { errorDetails, newLockedWorkspace, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

const create = (id: string, body: unknown) =>
  fixture().owner.api.post(`/workspaces/${id}/state-versions`, body);
const shown = async (id: string) =>
  (await fixture().owner.api.get(`/state-versions/${id}`)).body.data;

describe("a repeated create request within one lock", () => {
  test("of the same state returns the existing version", async () => {
    proves("State version creation rules/a repeat answers the");
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile();
    const first = await create(id, inlineState(state));
    const again = await create(id, inlineState(state));
    expect(again.status).toBe(201);
    expect(again.body.data.id).toBe(first.body.data.id);
    const parallel = await Promise.all(
      Array.from({ length: 6 }, () =>
        create(id, announcement(stateFile({ serial: 2, lineage: state.lineage, marker: "x" }))),
      ),
    );
    expect(parallel.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(new Set(parallel.map(({ body }) => body.data.id)).size).toBe(1);
  });

  test("with inline state finalizes a pending version", async () => {
    proves("State version creation rules/a repeat answers the");
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile();
    const pending = await create(id, announcement(state));
    expect(pending.body.data.attributes.status).toBe("pending");
    const finished = await create(id, inlineState(state));
    expect(finished.status).toBe(201);
    expect(finished.body.data).toMatchObject({
      id: pending.body.data.id,
      attributes: { status: "finalized" },
    });
  });

  test("of a superseded version returns 409, forced or not", async () => {
    proves("State version creation rules/a repeat of what was superseded or discarded");
    const { id } = await newLockedWorkspace(fixture());
    const first = stateFile();
    await create(id, inlineState(first));
    await create(id, inlineState(stateFile({ serial: 2, lineage: first.lineage })));
    for (const force of [false, true]) {
      const answer = await create(id, inlineState(first, { force }));
      expect(answer.status).toBe(409);
      errorDetails(answer);
    }
  });

  test("of a serial with a different state returns 409 unless it is forced", async () => {
    proves("State version creation/force");
    const { id } = await newLockedWorkspace(fixture());
    const first = stateFile();
    await create(id, inlineState(first));
    const other = stateFile({ lineage: first.lineage, marker: "other" });
    expect((await create(id, inlineState(other))).status).toBe(409);
    expect((await create(id, inlineState(other, { force: true }))).status).toBe(201);
  });
});

describe("the next state of a workspace", () => {
  test("may have a higher serial of the same lineage", async () => {
    proves("State version creation rules/a higher serial of");
    const { owner } = fixture();
    const { id } = await newWorkspace(fixture());
    const first = stateFile({ serial: 5 });
    await writeState(owner.api, id, first);
    const next = stateFile({ serial: 6, lineage: first.lineage });
    expect((await writeState(owner.api, id, next)).status).toBe(201);
    const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
    expect(current.body.data.attributes.serial).toBe(6);
  });

  test("may have a lower or equal serial only as the first of a lock", async () => {
    proves("State version creation rules/a higher serial of");
    const { owner } = fixture();
    const { id } = await newWorkspace(fixture());
    const { lineage } = stateFile();
    await writeState(owner.api, id, stateFile({ serial: 5, lineage }));
    for (const serial of [5, 3]) {
      const pushed = stateFile({ serial, lineage, marker: String(serial) });
      const written = await writeState(owner.api, id, pushed);
      expect(written.status).toBe(201);
      const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
      expect(current.body.data.id).toBe(written.body.data.id);
    }
    await owner.api.post(`/workspaces/${id}/actions/lock`);
    expect((await create(id, inlineState(stateFile({ serial: 8, lineage })))).status).toBe(201);
    const behind = stateFile({ serial: 7, lineage });
    expect((await create(id, inlineState(behind))).status).toBe(409);
    expect((await create(id, inlineState(behind, { force: true }))).status).toBe(201);
  });

  test("may have another lineage only by force", async () => {
    proves("State version creation/lineage");
    const { owner } = fixture();
    const { id } = await newWorkspace(fixture());
    await writeState(owner.api, id, stateFile());
    const foreign = stateFile({ serial: 9 });
    const refused = await writeState(owner.api, id, foreign);
    expect(refused.status).toBe(409);
    expect(errorDetails(refused)[0]).toMatch(/lineage/);
    expect((await writeState(owner.api, id, foreign, { force: true })).status).toBe(201);
  });
});

test("a newer version discards the pending one", async () => {
  proves("State version status/pending, superseded by a newer version");
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const first = stateFile();
  const pending = await create(id, announcement(first));
  const next = await create(id, inlineState(stateFile({ serial: 2, lineage: first.lineage })));
  expect(next.status).toBe(201);
  const discarded = await shown(pending.body.data.id);
  expect(discarded.attributes).toMatchObject({
    status: "discarded",
    "hosted-state-upload-url": null,
    "hosted-state-download-url": null,
  });
  const late = await fetch(pending.body.data.attributes["hosted-state-upload-url"], {
    method: "PUT",
    body: Uint8Array.from(first.bytes),
  });
  expect(late.status).toBe(409);
  const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
  expect(current.body.data.id).toBe(next.body.data.id);
});

test.each([0, Number.MAX_SAFE_INTEGER])("the serial %d is stored as it is", async (serial) => {
  proves("State version/serial");
  const { id } = await newWorkspace(fixture());
  const written = await writeState(fixture().owner.api, id, stateFile({ serial }));
  expect(written.status).toBe(201);
  expect(written.body.data.attributes.serial).toBe(serial);
});

test("a version shows the next and the previous version of its workspace", async () => {
  const { owner } = fixture();
  const { id, attributes } = await newWorkspace(fixture());
  const { lineage } = stateFile();
  const ids: string[] = [];
  for (const serial of [1, 2, 3]) {
    const { body } = await writeState(owner.api, id, stateFile({ serial, lineage }));
    ids.push(body.data.id);
  }
  const adjacentVersionsOf = ({
    relationships,
  }: {
    relationships: Record<string, { data: unknown }>;
  }) => [relationships["previous-state-version"]?.data, relationships["next-state-version"]?.data];
  const link = (index: number) => {
    const version = ids[index];
    return version === undefined ? null : { type: "state-versions", id: version };
  };
  for (const [index, version] of ids.entries()) {
    expect(adjacentVersionsOf(await shown(version))).toEqual([link(index - 1), link(index + 1)]);
  }
  const filter = `filter[organization][name]=${fixture().organization}&filter[workspace][name]=${attributes.name}`;
  const { body } = await owner.api.get(`/state-versions?${filter}`);
  expect(body.data.map(adjacentVersionsOf)).toEqual([
    [link(1), null],
    [link(0), link(2)],
    [null, link(1)],
  ]);
});

test("permissions.can-restore-backing-data is true for those who may restore the contents", async () => {
  const { owner, reader, readable } = fixture();
  const { id } = await newWorkspace(fixture(), {}, readable.id);
  const { body } = await writeState(owner.api, id, stateFile());
  const permission = async ({ api }: typeof owner) => {
    const version = await api.get(`/state-versions/${body.data.id}`);
    return version.body.data.attributes.permissions["can-restore-backing-data"];
  };
  expect(await permission(owner)).toBe(true);
  expect(await permission(reader)).toBe(false);
});
