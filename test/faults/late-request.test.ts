import { mentions, startFaultProxy } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { api } from "../stack/http.ts";
import { expectStatus, inlineState, type StateFile } from "../stack/state.ts";
import { eventually } from "./fixture.ts";
import { lock, newLockedWorkspace, one, two, unlock, write } from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

const fixture = useFaultFixture(() => ({}));

/** Sends a create request and holds it back in transit. It arrives when `arrive` is called. */
async function sendLate(id: string, state: StateFile, attributes: Record<string, unknown> = {}) {
  const { stack, owner } = fixture();
  const proxy = await startFaultProxy(Number(new URL(stack.url).port));
  const held = proxy.hold({ direction: "requests", when: mentions("POST /api") });
  const late = api(`http://127.0.0.1:${proxy.port}`, owner.token);
  const response = late.post(`/workspaces/${id}/state-versions`, inlineState(state, attributes));
  await held;
  return {
    async arrive() {
      proxy.release();
      const answer = await response;
      await proxy[Symbol.asyncDispose]();
      return answer;
    },
  };
}

const versions = (id: string) =>
  fixture().rows<{ id: string; status: string }>(
    "state",
    "select id, status from state_versions where workspace_id = $1 order by position",
    [id],
  );

const currentSerial = async (id: string) =>
  (await expectStatus(200, fixture().owner.api.get(`/workspaces/${id}/current-state-version`))).body
    .data.attributes.serial;

test("a duplicate that arrives after its version was finalized returns that version", async () => {
  proves("State version creation rules/a repeat answers the");
  const id = await newLockedWorkspace(fixture());
  const state = one();
  const late = await sendLate(id, state);
  const written = await write(fixture(), id, state);
  expect(written.status).toBe(201);
  const answer = await late.arrive();
  expect(answer.status).toBe(201);
  expect(answer.body.data.id).toBe(written.body.data.id);
  expect(answer.body.data.attributes.status).toBe("finalized");
  expect(await versions(id)).toHaveLength(1);
});

test.each([false, true])(
  "a duplicate that arrives after a newer version changes nothing and returns 409, forced: %s",
  async (force) => {
    proves("State version creation rules/a repeat of what was superseded or discarded");
    const id = await newLockedWorkspace(fixture());
    const [first, second] = two();
    const late = await sendLate(id, first, { force });
    for (const state of [first, second])
      expect((await write(fixture(), id, state)).status).toBe(201);
    expect((await late.arrive()).status).toBe(409);
    expect(await currentSerial(id)).toBe(2);
    expect(await versions(id)).toHaveLength(2);
  },
);

test("a duplicate that arrives after the unlock returns 412 and changes nothing", async () => {
  proves("State version creation rules/locked by the caller");
  const id = await newLockedWorkspace(fixture());
  const [first, second] = two();
  const late = await sendLate(id, first);
  for (const state of [first, second]) expect((await write(fixture(), id, state)).status).toBe(201);
  expect((await unlock(fixture(), id)).status).toBe(200);
  expect((await late.arrive()).status).toBe(412);
  expect(await currentSerial(id)).toBe(2);
});

test("a write that unlock and lock overtook is refused by the sealed epoch", async () => {
  proves("State version creation rules/no late write slips through a lock that was given back");
  const { proxies } = fixture();
  const id = await newLockedWorkspace(fixture());
  const [first, second] = two();
  // The state service has asked the workspaces service for the current lock. The response is correct when it is sent,
  // but it arrives only after the workspace was unlocked and locked again.
  const held = proxies.stateToWorkspaces.hold({
    direction: "answers",
    when: () => true,
    after: mentions(id),
  });
  const late = write(fixture(), id, first);
  await held;
  expect((await unlock(fixture(), id)).status).toBe(200);
  expect((await lock(fixture(), id)).status).toBe(200);
  proxies.stateToWorkspaces.release();
  const answer = await late;
  expect(answer.status).toBe(409);
  expect(answer.body.errors[0].detail).toContain("released");
  expect(await versions(id)).toEqual([]);
  await eventually(201, () => write(fixture(), id, second));
});

test("bytes that arrive after a force-unlock are refused, and no version stores them", async () => {
  proves("Upload/never onto a discarded or deleted version");
  const { proxies, owner } = fixture();
  const id = await newLockedWorkspace(fixture());
  const state = one();
  const held = proxies.gatewayToObjects.hold({
    direction: "requests",
    when: mentions("PUT /v1/object"),
  });
  const late = write(fixture(), id, state);
  await held;
  expect((await owner.api.post(`/workspaces/${id}/actions/force-unlock`)).status).toBe(200);
  proxies.gatewayToObjects.release();
  expect((await late).status).toBe(409);
  expect((await versions(id)).map(({ status }) => status)).toEqual(["discarded"]);
  expect((await owner.api.get(`/workspaces/${id}/current-state-version`)).status).toBe(404);
});
