import { newId } from "@statehouse/postgres/ids";
import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, organizationId } from "../stack/organization.ts";
import { type Published, published } from "../stack/published.ts";
import { announcement, expectStatus, inlineState, stateFile } from "../stack/state.ts";
import { newWorkspace, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();
let bus: Published;
beforeAll(() => {
  bus = published(fixture().stack.nats);
});
afterAll(() => bus[Symbol.asyncDispose]());

/** Returns the actor in the event that has this type and contains `id` in `field`. */
const authOf = (field: string, id: string, type: string) =>
  waitFor(() => bus.about(field, id, `${type}.v1`)[0]?.auth, { what: `${type} of ${id}` });

const secretOf = async (path: string) => {
  const made = await expectStatus(
    201,
    fixture().owner.api.post(path, document("authentication-tokens", {})),
  );
  const { token }: { token: string } = made.body.data.attributes;
  return token;
};

test("an event of a request names the user", async () => {
  const { owner } = fixture();
  const { id } = await newWorkspace(fixture());
  expect(await authOf("workspaceId", id, "workspace.created")).toEqual({
    type: "user",
    id: owner.id,
  });
});

test("an event of a request with the token of a team or an organization names the team or organization", async () => {
  const { owner, organization, stack, url } = fixture();
  const inside = await organizationId(stack, organization);
  const { body } = await expectStatus(200, owner.api.get(`/organizations/${organization}/teams`));
  const teamId: string = body.data.find(
    (team: { attributes: { name: string } }) => team.attributes.name === "owners",
  ).id;
  for (const [path, id] of [
    [`/teams/${teamId}/authentication-token`, teamId],
    [`/organizations/${organization}/authentication-token`, inside],
  ] as const) {
    const secret = await secretOf(path);
    const api = recordedApi(url, secret);
    const project = await expectStatus(
      201,
      api.post(`/organizations/${organization}/projects`, document("projects", { name: id })),
    );
    expect(await authOf("projectId", project.body.data.id, "project.created")).toEqual({
      type: "api_key",
      id,
    });
    const text = JSON.stringify(bus.events);
    expect(text).toContain(inside);
    expect(text).not.toContain(secret);
  }
});

test("an event of a run, of its runner and of an upload URL names the run, the runner and the creator of the version", async () => {
  const { stack, owner, url } = fixture();
  const { locks, tokens } = await stack.runnerCalls("runner");
  const { id: workspaceId } = await newWorkspace(fixture());
  const runId = newId("run");
  const { secret } = await tokens.createRunToken({ runId, workspaceId });
  await locks.lockAsRun({ workspaceId, runId });
  const runner = { type: "service_account", id: "service:runner" };
  expect(await authOf("workspaceId", workspaceId, "run-token.created")).toEqual(runner);
  expect(await authOf("workspaceId", workspaceId, "workspace.locked")).toEqual(runner);
  const path = `/workspaces/${workspaceId}/state-versions`;
  const state = stateFile();
  const created = await expectStatus(201, recordedApi(url, secret).post(path, inlineState(state)));
  const versionId: string = created.body.data.id;
  for (const type of ["state-version.created", "state-version.finalized"]) {
    const auth = await authOf("stateVersionId", versionId, type);
    expect(auth, type).toEqual({ type: "service_account", id: runId });
  }
  const processed = await authOf("stateVersionId", versionId, "state-version.processed");
  expect(processed).toEqual({ type: "service_account", id: "service:state" });
  await locks.unlockAsRun({ workspaceId, runId });

  await expectStatus(200, owner.api.post(`/workspaces/${workspaceId}/actions/lock`));
  const next = stateFile({ serial: 2, lineage: state.lineage });
  const announced = await owner.api.post(path, announcement(next));
  const { id, attributes } = announced.body.data;
  const uploaded = await fetch(attributes["hosted-state-upload-url"], {
    method: "PUT",
    body: next.bytes,
  });
  expect([announced.status, uploaded.status]).toEqual([201, 200]);
  expect(await authOf("stateVersionId", id, "state-version.finalized")).toEqual({
    type: "user",
    id: owner.id,
  });
});

test("what another service does for a request names that service", async () => {
  const { owner, stack } = fixture();
  const inside = await organizationId(stack, await newOrganization(owner.api));
  expect(await authOf("organizationId", inside, "organization.created")).toEqual({
    type: "user",
    id: owner.id,
  });
  expect(await authOf("organizationId", inside, "team.created")).toEqual({
    type: "service_account",
    id: "service:workspaces",
  });
});
