import { expect, test } from "vitest";
import { halfSent } from "../stack/half-sent.ts";
import { inlineState, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, newUser, useFixture } from "../system/fixture.ts";

const MIB = 1024 * 1024;
const fixture = useFixture({ settings: { MAX_BODIES_BYTES: String(64 * MIB) } });

const unknownWorkspace = "/workspaces/ws-AAAAAAAAAAAAAAAA";

test("bodies of one user who holds as many as fit in memory are refused with 503", async () => {
  const eve = await newUser(fixture().stack);
  const blank = Buffer.alloc(40 * MIB, " ");
  const url = `${fixture().url}/api/v2${unknownWorkspace}/state-versions`;
  const headers = { authorization: `Bearer ${eve.token}` };
  const held = await Promise.all(
    Array.from({ length: 3 }, () => halfSent("POST", url, blank, headers)),
  );
  const answers = Promise.all(held.map(({ answer }) => answer));
  for (const { finish } of held) finish();
  const statuses = await answers;
  expect(statuses).toContain(503);
  for (const status of statuses) expect([400, 404, 422, 503]).toContain(status);
  // The reserved memory is free again, so another large body is accepted.
  const later = await halfSent("POST", url, blank, headers);
  later.finish();
  expect(await later.answer).toBe(422);
});

test("a list of 5,000 whole documents is accepted, and one of more than 4 MiB is read in a thread", async () => {
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const attributes = { filler: "x".repeat(2000) };
  const documents = (type: string) => ({
    data: Array.from({ length: 5000 }, () => ({ type, id: "ws-AAAAAAAAAAAAAAAA", attributes })),
  });
  const path = `/workspaces/${id}/relationships/remote-state-consumers`;
  const wrong = await owner.api.post(path, documents("projects"));
  expect(wrong.status).toBe(422);
  expect(wrong.body.errors).toHaveLength(20);
  expect(wrong.body.errors[0]).toMatchObject({
    detail: 'Type must be "workspaces"',
    source: { pointer: "/data/0/type" },
  });
  // The body is read completely; the workspace that it names does not exist.
  expect((await owner.api.post(path, documents("workspaces"))).status).toBeLessThan(500);
  const broken = await owner.api.send("POST", path, `${" ".repeat(5 * MIB)}{`);
  expect(broken.status).toBe(400);
});

test("a large inline state is stored as it was sent", async () => {
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const state = stateFile({ serial: 1, lineage: id, marker: "x".repeat(6 * MIB) });
  const created = await owner.api.post(`/workspaces/${id}/state-versions`, inlineState(state));
  expect(created.status).toBe(201);
  expect(created.body.data.attributes).toMatchObject({ md5: state.md5, size: state.bytes.length });
});
