import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { announcement, inlineState, stateFile } from "../stack/state.ts";
import {
  type ApiUser,
  errorDetails,
  namesOf,
  newLockedWorkspace,
  newTeam,
  newWorkspace,
  useFixture,
} from "./fixture.ts";

const fixture = useFixture();

const act = (id: string, action: string, by: ApiUser = fixture().owner, body?: unknown) =>
  by.api.post(`/workspaces/${id}/actions/${action}`, body);
const shown = async (id: string) => (await fixture().owner.api.get(`/workspaces/${id}`)).body.data;

/** Creates another member of the organization who may manage workspaces. */
const colleague = async (): Promise<ApiUser> =>
  (await newTeam(fixture(), ["manage-workspaces"])).member;

describe("an unlocked workspace", () => {
  test("can be locked, and its document shows the holder and the reason", async () => {
    proves(
      "Workspace endpoints/POST actions/lock",
      "Workspace lock/unlocked, lock, caller may lock",
    );
    const { owner } = fixture();
    const { id } = await newWorkspace(fixture());
    const locked = await act(id, "lock", owner, document("", { reason: "maintenance ✓" }));
    expect(locked.status).toBe(200);
    const { attributes, relationships } = locked.body.data;
    expect(attributes).toMatchObject({ locked: true, "locked-reason": "maintenance ✓" });
    expect(Date.parse(attributes["locked-since"])).not.toBeNaN();
    expect(relationships["locked-by"].data).toEqual({ id: owner.id, type: "users" });
    expect(locked.body.data).toEqual(await shown(id));
  });

  test.each([
    ["the documented body", { reason: "why" }, "why"],
    ["the body of the CLI", document("", { reason: "why" }), "why"],
    ["an empty object", {}, ""],
    ["no body", undefined, ""],
    ["a null reason", document("", { reason: null }), ""],
  ])("can be locked with %s", async (_, body, reason) => {
    proves("Workspace endpoints/POST actions/lock");
    const { id } = await newWorkspace(fixture());
    const locked = await act(id, "lock", fixture().owner, body);
    expect(locked.status).toBe(200);
    expect(locked.body.data.attributes["locked-reason"]).toBe(reason);
  });

  test("refuses a reason that is not a text", async () => {
    const { id } = await newWorkspace(fixture());
    expect((await act(id, "lock", fixture().owner, { reason: 3 })).status).toBe(422);
    expect((await shown(id)).attributes.locked).toBe(false);
  });

  test.each(["unlock", "force-unlock"])(
    "refuses %s and reports that it is already unlocked",
    async (action) => {
      proves(`Workspace lock/unlocked, ${action}`);
      const { id } = await newWorkspace(fixture());
      const answer = await act(id, action);
      expect(answer.status).toBe(409);
      expect(errorDetails(answer)[0]).toContain("already unlocked");
    },
  );
});

describe("a locked workspace", () => {
  test("refuses another lock, even of the holder, and names the holder", async () => {
    proves("Workspace lock/locked, lock", "Workspace errors/lock");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    for (const user of [owner, await colleague()]) {
      const answer = await act(id, "lock", user);
      expect(answer.status).toBe(409);
      expect(errorDetails(answer)[0]).toContain(`is locked by User ${owner.username}`);
    }
  });

  test("can be unlocked by its holder and locked again", async () => {
    proves(
      "Workspace endpoints/POST actions/unlock",
      "Workspace lock/locked, unlock by the locker",
    );
    const { id } = await newLockedWorkspace(fixture());
    const unlocked = await act(id, "unlock");
    expect(unlocked.status).toBe(200);
    expect(unlocked.body.data.attributes).toMatchObject({ locked: false, "locked-reason": "" });
    expect(unlocked.body.data.relationships["locked-by"].data).toBeNull();
    expect(unlocked.body.data).toEqual(await shown(id));
    expect((await act(id, "unlock")).status).toBe(409);
    expect((await act(id, "lock")).status).toBe(200);
  });

  test("refuses an unlock by another user with the text that clients match", async () => {
    proves("Workspace lock/locked, unlock by another", "Workspace errors/unlock");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const answer = await act(id, "unlock", await colleague());
    expect(answer.status).toBe(409);
    expect(errorDetails(answer)[0]).toContain(`is locked by User ${owner.username}`);
    expect((await shown(id)).attributes.locked).toBe(true);
  });

  test("can be force-unlocked by its administrators", async () => {
    proves(
      "Workspace endpoints/POST actions/force-unlock",
      "Workspace lock/locked, force-unlock by an admin",
    );
    const { id } = await newLockedWorkspace(fixture());
    const administrator = await colleague();
    const freed = await act(id, "force-unlock", administrator);
    expect(freed.status).toBe(200);
    expect(freed.body.data.attributes.locked).toBe(false);
    const { body } = await administrator.api.get(`/workspaces/${id}`);
    expect(freed.body).toEqual(body);
    expect((await act(id, "unlock")).status).toBe(409);
  });

  test("can be changed and renamed while it stays locked", async () => {
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const updated = await owner.api.patch(
      `/workspaces/${id}`,
      document("workspaces", { description: "while locked" }),
    );
    expect(updated.body.data.attributes).toMatchObject({
      description: "while locked",
      locked: true,
    });
  });
});

test("one of several concurrent unlocks succeeds", async () => {
  proves("Workspace lock/unlocked, unlock");
  const { id } = await newLockedWorkspace(fixture());
  const answers = await Promise.all(Array.from({ length: 10 }, () => act(id, "unlock")));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
});

describe("while a state version is pending", () => {
  test("unlock returns 503 with the text that clients retry on until it is uploaded", async () => {
    proves(
      "State version creation/state: omitted, it is",
      "State under a lock/unlock while one is not finalized",
      "Workspace lock/locked, unlock, intermediate not finalized",
      "Workspace errors/unlock",
    );
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile();
    const created = await owner.api.post(`/workspaces/${id}/state-versions`, announcement(state));
    expect(created.body.data.attributes.status).toBe("pending");
    for (let attempt = 0; attempt < 2; attempt++) {
      const answer = await act(id, "unlock");
      expect(answer.status).toBe(503);
      expect(errorDetails(answer)[0]).toContain("latest state version is still pending");
    }
    expect((await shown(id)).attributes.locked).toBe(true);
    const put = await fetch(created.body.data.attributes["hosted-state-upload-url"], {
      method: "PUT",
      body: Uint8Array.from(state.bytes),
    });
    expect(put.status).toBe(200);
    const unlocked = await act(id, "unlock");
    expect(unlocked.status).toBe(200);
    expect(unlocked.body.data.relationships["current-state-version"].data).toEqual({
      id: created.body.data.id,
      type: "state-versions",
    });
  });

  test("force-unlock discards it, and its upload is refused", async () => {
    proves("State under a lock/force-unlock", "Workspace lock/locked, force-unlock by an admin");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile();
    const created = await owner.api.post(`/workspaces/${id}/state-versions`, announcement(state));
    expect((await act(id, "force-unlock")).status).toBe(200);
    const version = await owner.api.get(`/state-versions/${created.body.data.id}`);
    expect(version.body.data.attributes.status).toBe("discarded");
    const put = await fetch(created.body.data.attributes["hosted-state-upload-url"], {
      method: "PUT",
      body: Uint8Array.from(state.bytes),
    });
    expect(put.status).toBe(409);
    expect((await owner.api.get(`/workspaces/${id}/current-state-version`)).status).toBe(404);
  });

  test("force-unlock keeps the finalized version", async () => {
    proves("State under a lock/force-unlock");
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile();
    await owner.api.post(`/workspaces/${id}/state-versions`, inlineState(state));
    const next = stateFile({ serial: 2, lineage: state.lineage });
    await owner.api.post(`/workspaces/${id}/state-versions`, announcement(next));
    expect((await act(id, "force-unlock")).status).toBe(200);
    const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
    expect(current.body.data.attributes.serial).toBe(1);
  });
});

test("a state written under a lock can be read immediately after the unlock", async () => {
  proves(
    "Reading/GET /state-versions/:id, GET /workspaces/:id/current-state-version",
    "Workspace run attributes/tag-names, resource-count, updated-at, locked",
  );
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const created = await owner.api.post(
    `/workspaces/${id}/state-versions`,
    inlineState(stateFile()),
  );
  const unlocked = await act(id, "unlock");
  expect(unlocked.body.data.relationships["current-state-version"].data.id).toBe(
    created.body.data.id,
  );
});

test("locking requires the right to lock, and force-unlocking the right to administer", async () => {
  proves(
    "Authentication/2 changing settings, force-unlocking",
    "Workspace rights/settings and force-unlock",
    "Workspace errors/lock",
    "Workspace errors/force-unlock",
  );
  const { owner, reader, readable, outsider } = fixture();
  const { id } = await newWorkspace(fixture(), {}, readable.id);
  for (const action of ["lock", "unlock", "force-unlock"]) {
    for (const user of [reader, outsider]) {
      expect((await act(id, action, user)).status).toBe(404);
    }
    expect((await act("ws-0000000000000000", action, owner)).status).toBe(404);
  }
  expect((await act(id, "lock")).status).toBe(200);
  for (const action of ["unlock", "force-unlock"]) {
    expect((await act(id, action, reader)).status).toBe(404);
  }
});

test("a reason has a generous maximum length", async () => {
  const { id } = await newWorkspace(fixture());
  for (const length of [4097, 1_000_000]) {
    const refused = await act(id, "lock", fixture().owner, { reason: "x".repeat(length) });
    expect(refused.status).toBe(422);
    expect(errorDetails(refused)[0]).toContain("too long");
  }
  const huge = await act(id, "lock", fixture().owner, { reason: "x".repeat(3_000_000) });
  expect(huge.status).toBe(413);
  const reason = "✓".repeat(4096);
  const locked = await act(id, "lock", fixture().owner, { reason });
  expect(locked.body.data.attributes["locked-reason"]).toBe(reason);
});

test("the locked workspaces of an organization can be listed, and those that are not", async () => {
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  const { id } = await newWorkspace({ organization, owner }, { name: "locked" });
  await newWorkspace({ organization, owner }, { name: "unlocked" });
  const list = async (locked: string) =>
    owner.api.get(`/organizations/${organization}/workspaces?filter[locked]=${locked}`);
  expect(namesOf(await list("true"))).toEqual([]);
  await act(id, "lock", owner, document("", { reason: "maintenance" }));
  expect(namesOf(await list("true"))).toEqual(["locked"]);
  expect(namesOf(await list("false"))).toEqual(["unlocked"]);
  expect(namesOf(await list(""))).toEqual(["locked", "unlocked"]);
  const refused = await list("yes");
  expect(refused.status).toBe(400);
  expect(errorDetails(refused)).toEqual(["filter[locked] must be one of true, false."]);
});
