import { proves } from "@statehouse/testing/proves";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../faults/fixture.ts";
import { type Proxies, type StartedProxies, startProxies } from "../faults/proxies.ts";
import { type Answer, document, linkage } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { startProcesses } from "../stack/stack.ts";
import { inlineState, stateFile, writeState } from "../stack/state.ts";
import {
  errorDetails,
  newLockedWorkspace,
  newProject,
  newUser,
  newWorkspace,
  useStack,
} from "./fixture.ts";

// While a service is unavailable, requests return 503. A repeated request completes the change.

let started: StartedProxies;
const fixture = useStack(() =>
  startProcesses({
    async rewire(environments) {
      started = await startProxies(environments);
    },
  }),
);
afterAll(() => started[Symbol.asyncDispose]());

/**
 * Sends the requests during a partition and expects 503. Then repeats each request until its status is one of `done`.
 */
async function refusedThenDone(
  connection: keyof Proxies,
  done: readonly number[],
  ...requests: (() => Promise<Answer>)[]
): Promise<Answer[]> {
  const proxy = started.proxies[connection];
  proxy.partition();
  for (const refused of await Promise.all(requests.map((ask) => ask()))) {
    expect(refused.status).toBe(503);
    errorDetails(refused);
  }
  proxy.heal();
  return Promise.all(requests.map((ask) => eventually(done, ask)));
}

/** Creates two workspaces; returns a path with the id of the first, and a path with the name of the second. */
async function pathsToWorkspaces(): Promise<{ id: string; path: string }[]> {
  const [one, other] = await Promise.all([newWorkspace(fixture()), newWorkspace(fixture())]);
  const inOrganization = `/organizations/${fixture().organization}/workspaces`;
  return [
    { id: one.id, path: `/workspaces/${one.id}` },
    { id: other.id, path: `${inOrganization}/${other.attributes.name}` },
  ];
}

test("an organization that the access service did not receive is completed by a repeated request", async () => {
  const { owner, outsider } = fixture();
  // Makes the services cache the owner's grants, so that only the second half of the creation fails.
  await owner.api.get("/organizations");
  const body = document("organizations", { name: unusedName("half"), email: "a@b.example" });
  const path = `/organizations/${body.data.attributes.name}`;
  // 422 is accepted, because the creation event may have completed the first request before the repeat.
  await refusedThenDone("workspacesToAccess", [201, 422], () =>
    owner.api.post("/organizations", body),
  );
  expect((await owner.api.get(path)).status).toBe(200);
  expect((await outsider.api.get(path)).status).toBe(404);
});

test("a token setting that the access service did not receive is sent by a repeated request", async () => {
  const { owner, organization } = fixture();
  const path = `/organizations/${organization}`;
  await owner.api.get(path);
  const body = document("organizations", { "user-tokens-enabled": true });
  for (const method of ["PATCH", "PUT"]) {
    await refusedThenDone("workspacesToAccess", [200], () => owner.api.send(method, path, body));
  }
});

test("an organization that the access service did not delete is invisible, and a repeated request completes the deletion", async () => {
  const { owner } = fixture();
  const name = unusedName("dropped");
  const path = `/organizations/${name}`;
  await owner.api.post("/organizations", document("organizations", { name, email: "a@b.example" }));
  await owner.api.get(path);
  await refusedThenDone("workspacesToAccess", [204, 404], () => owner.api.delete(path));
  expect((await owner.api.get(path)).status).toBe(404);
});

test("an administrator's deletion of an organization is completed by a repeated request", async () => {
  const { owner, stack } = fixture();
  const administrator = await newUser(stack, { administrator: true });
  const name = unusedName("dropped");
  await owner.api.post("/organizations", document("organizations", { name, email: "a@b.example" }));
  const path = `/admin/organizations/${name}`;
  await administrator.api.get(path);
  await refusedThenDone("workspacesToAccess", [204, 404], () => administrator.api.delete(path));
  expect((await administrator.api.get(path)).status).toBe(404);
});

test("a move that the state service did not receive is sent by a repeated request", async () => {
  const { owner } = fixture();
  const workspaces = await pathsToWorkspaces();
  const project = await newProject(fixture());
  const body = document("workspaces", {}, { project: linkage("projects", project.id) });
  for (const { id } of workspaces) await writeState(owner.api, id, stateFile());
  const moves = workspaces.map(
    ({ path }) =>
      () =>
        owner.api.patch(path, body),
  );
  await refusedThenDone("workspacesToState", [200], ...moves);
  for (const { path } of workspaces) {
    const shown = await owner.api.get(path);
    expect(shown.body.data.relationships.project.data.id).toBe(project.id);
  }
});

test("the move of several workspaces is completed by a repeated request", async () => {
  const { owner } = fixture();
  const project = await newProject(fixture());
  const { id } = await newWorkspace(fixture());
  const linkages = { data: [{ type: "workspaces", id }] };
  await refusedThenDone("workspacesToState", [204], () =>
    owner.api.post(`/projects/${project.id}/relationships/workspaces`, linkages),
  );
  const shown = await owner.api.get(`/workspaces/${id}`);
  expect(shown.body.data.relationships.project.data.id).toBe(project.id);
});

test.each(["unlock", "force-unlock"])("%s is completed by the repeat", async (action) => {
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  await refusedThenDone("workspacesToState", [200], () =>
    owner.api.post(`/workspaces/${id}/actions/${action}`),
  );
  expect((await owner.api.get(`/workspaces/${id}`)).body.data.attributes.locked).toBe(false);
});

test("a deletion never succeeds before the state service has confirmed it, and a repeated request may find it complete", async () => {
  const { owner } = fixture();
  const workspaces = await pathsToWorkspaces();
  const deletions = workspaces.map(
    ({ path }) =>
      () =>
        owner.api.delete(path),
  );
  await refusedThenDone("workspacesToState", [204, 404], ...deletions);
  for (const { path } of workspaces) expect((await owner.api.get(path)).status).toBe(404);
});

test("a safe delete that could not call the state service deletes nothing and succeeds afterwards", async () => {
  const { owner } = fixture();
  const workspaces = await pathsToWorkspaces();
  const safeDelete = (path: string) => owner.api.post(`${path}/actions/safe-delete`);
  started.proxies.workspacesToState.partition();
  const refused = await Promise.all(workspaces.map(({ path }) => safeDelete(path)));
  expect(refused.map(({ status }) => status)).toEqual([503, 503]);
  for (const { path } of workspaces) expect((await owner.api.get(path)).status).toBe(200);
  started.proxies.workspacesToState.heal();
  for (const { path } of workspaces) await eventually(204, () => safeDelete(path));
});

test("inline state that could not be uploaded is completed by a repeated request", async () => {
  proves("State version creation/state: optional Base64; given");
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const state = stateFile();
  const create = () => owner.api.post(`/workspaces/${id}/state-versions`, inlineState(state));
  const [created] = await refusedThenDone("gatewayToObjects", [201], create);
  expect(created?.body.data.attributes.status).toBe("finalized");
});
