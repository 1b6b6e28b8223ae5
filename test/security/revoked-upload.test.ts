import { newId } from "@statehouse/postgres/ids";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, describe, expect, test } from "vitest";
import { type Proxies, startProxies } from "../faults/proxies.ts";
import { halfSent } from "../stack/half-sent.ts";
import { organizationId, unusedName } from "../stack/organization.ts";
import { startProcesses, startStack } from "../stack/stack.ts";
import { announcement, expectStatus, inlineState, stateFile } from "../stack/state.ts";
import { type ApiUser, newUser, newWorkspace, recordedApi, useStack } from "../system/fixture.ts";

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
const proxies: Partial<Proxies> = {};

const startProxied = () =>
  startProcesses({
    async rewire(environments) {
      Object.assign(proxies, started.use(await startProxies(environments)).proxies);
    },
  });

describe.each([
  ["one process", startStack],
  ["four processes", startProxied],
])("an upload URL, in %s,", (_, start) => {
  const fixture = useStack<Awaited<ReturnType<typeof startStack>>>(() => start());

  interface Writer {
    eve: ApiUser;
    teamId: string;
    teamAccessId: string;
    workspaceId: string;
  }

  /** Creates a workspace that eve has locked. Eve may write states because she belongs to a team. */
  async function writer(): Promise<Writer> {
    const { stack, organization, readable } = fixture();
    const eve = await newUser(stack);
    const { id: teamId } = await stack.people.newTeam({
      organizationId: await organizationId(stack, organization),
      name: unusedName("writers"),
      members: [eve],
    });
    const access = await stack.people.grant({ teamId, projectId: readable.id, access: "write" });
    const { id } = await newWorkspace(fixture(), {}, readable.id);
    await expectStatus(200, eve.api.post(`/workspaces/${id}/actions/lock`));
    return { eve, teamId, teamAccessId: access.id, workspaceId: id };
  }

  /** Creates a pending version as eve. */
  async function pending({ eve, workspaceId }: Writer) {
    const state = stateFile();
    const path = `/workspaces/${workspaceId}/state-versions`;
    const { body } = await expectStatus(201, eve.api.post(path, announcement(state)));
    const { attributes, id } = body.data;
    const urls = {
      raw: String(attributes["hosted-state-upload-url"]),
      json: String(attributes["hosted-json-state-upload-url"]),
    };
    return { id: String(id), state, urls };
  }

  async function put(url: string, body: Uint8Array): Promise<{ status: number; body: string }> {
    const answer = await fetch(url, { method: "PUT", body: Buffer.from(body) });
    return { status: answer.status, body: await answer.text() };
  }

  const statusOf = async (versionId: string) =>
    (await fixture().owner.api.get(`/state-versions/${versionId}`)).body.data.attributes.status;

  const losses: [string, (writer: Writer) => Promise<unknown>][] = [
    [
      "its creator's team lost its access",
      ({ teamAccessId }) =>
        expectStatus(204, fixture().owner.api.delete(`/team-projects/${teamAccessId}`)),
    ],
    [
      "its creator left the team",
      ({ teamId, eve }) => fixture().stack.people.removeMember(teamId, eve),
    ],
    [
      "its creator deleted the token",
      async ({ eve }) => {
        const { body } = await eve.api.get(`/users/${eve.id}/authentication-tokens`);
        await expectStatus(204, eve.api.delete(`/authentication-tokens/${body.data[0].id}`));
      },
    ],
    [
      "its creator was suspended",
      async ({ eve }) => {
        const { api } = await newUser(fixture().stack, { administrator: true });
        await expectStatus(200, api.post(`/admin/users/${eve.id}/actions/suspend`));
      },
    ],
  ];

  test.each(losses)("stores nothing after %s", async (_loss, lose) => {
    proves("Upload/rights at the end");
    const { owner } = fixture();
    const at = await writer();
    const { id, state, urls } = await pending(at);
    const begun = await halfSent("PUT", urls.raw, state.bytes);
    await lose(at);
    begun.finish();
    expect(await begun.answer).toBe(404);

    const late = await put(urls.raw, state.bytes);
    const json = await put(urls.json, Buffer.from("{}"));
    const forged = await put(urls.raw.slice(0, -4), state.bytes);
    expect([late, json]).toEqual([forged, forged]);
    expect(await statusOf(id)).toBe("pending");
    const workspace = `/workspaces/${at.workspaceId}`;
    expect((await owner.api.get(`${workspace}/current-state-version`)).status).toBe(404);

    // The workspace remains locked, but the lock no longer allows its holder to write.
    const created = await at.eve.api.post(`${workspace}/state-versions`, announcement(stateFile()));
    expect([401, 404]).toContain(created.status);
    await expectStatus(409, owner.api.post(`${workspace}/actions/lock`));
    await expectStatus(200, owner.api.post(`${workspace}/actions/force-unlock`));
    await expectStatus(200, owner.api.post(`${workspace}/actions/lock`));
    const written = await owner.api.post(`${workspace}/state-versions`, inlineState(stateFile()));
    expect(written.status).toBe(201);
  });

  test.each(losses)("stores no JSON state after %s", async (_loss, lose) => {
    const at = await writer();
    const { id, state, urls } = await pending(at);
    expect((await put(urls.raw, state.bytes)).status).toBe(200);
    await lose(at);
    expect((await put(urls.json, Buffer.from("{}"))).status).toBe(404);
    // Even a repeated upload of the same bytes is refused, although it would store nothing.
    expect((await put(urls.raw, state.bytes)).status).toBe(404);
    const { body } = await fixture().owner.api.get(`/state-versions/${id}`);
    expect(body.data.attributes["hosted-json-state-download-url"]).toBeNull();
  });

  test("works with another token of its creator after a repeated creation", async () => {
    const { stack } = fixture();
    const at = await writer();
    const { state, urls } = await pending(at);
    const made = await expectStatus(
      201,
      at.eve.api.post(`/users/${at.eve.id}/authentication-tokens`, {
        data: { type: "authentication-tokens", attributes: { description: "second" } },
      }),
    );
    const { body } = await at.eve.api.get(`/users/${at.eve.id}/authentication-tokens`);
    const first = body.data.find((token: { id: string }) => token.id !== made.body.data.id);
    await expectStatus(204, at.eve.api.delete(`/authentication-tokens/${first.id}`));
    expect((await put(urls.raw, state.bytes)).status).toBe(404);
    const second = recordedApi(stack.url, made.body.data.attributes.token);
    const path = `/workspaces/${at.workspaceId}/state-versions`;
    await expectStatus(201, second.post(path, announcement(state)));
    expect((await put(urls.raw, state.bytes)).status).toBe(200);
  });

  test("stores nothing after the run that created it has ended or its token is revoked", async () => {
    const { stack, owner } = fixture();
    const { tokens, locks, reports } = await stack.runnerCalls("runner");
    for (const lose of ["end", "revocation"] as const) {
      const { id: workspaceId } = await newWorkspace(fixture());
      const runId = newId("run");
      const { secret, runTokenId } = await tokens.createRunToken({ runId, workspaceId });
      await reports.run({ runId, workspaceId, status: "applying", revision: 1n });
      await locks.lockAsRun({ workspaceId, runId, reason: "applying" });
      const state = stateFile();
      const path = `/workspaces/${workspaceId}/state-versions`;
      const run = recordedApi(stack.url, secret);
      const { body } = await expectStatus(201, run.post(path, announcement(state)));
      const url = body.data.attributes["hosted-state-upload-url"];
      if (lose === "revocation") await tokens.deleteRunToken({ runTokenId });
      else await reports.run({ runId, workspaceId, status: "applied", revision: 2n });
      expect((await put(url, state.bytes)).status).toBe(404);
      const shown = await owner.api.get(`/state-versions/${body.data.id}`);
      expect(shown.body.data.attributes.status).not.toBe("finalized");
    }
  });

  if (start === startProxied) {
    test("returns 503 without the access service, and works afterwards", async () => {
      proves("Upload/rights at the end");
      const at = await writer();
      const { id, state, urls } = await pending(at);
      proxies.stateToAccess?.partition();
      expect((await put(urls.raw, state.bytes)).status).toBe(503);
      proxies.stateToAccess?.heal();
      expect(await statusOf(id)).toBe("pending");
      await waitFor(async () => (await put(urls.raw, state.bytes)).status === 200);
      expect(await statusOf(id)).toBe("finalized");
    });
  }
});
