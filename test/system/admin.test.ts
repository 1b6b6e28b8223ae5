import { newId } from "@statehouse/postgres/ids";
import { timestampAt } from "@statehouse/rpc/testing";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterEach, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { errorDetails, newUser, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();
const settings = "/admin/general-settings";
const input = (attributes: Record<string, unknown>) => document("general-settings", attributes);
const administrator = () => newUser(fixture().stack, { administrator: true });

afterEach(async () => {
  const { api } = await administrator();
  await api.patch(settings, input({ "default-remote-state-access": false }));
});

test("an administrator sets the default sharing of new workspaces, which their creator can override", async () => {
  proves(
    "Editions/global-remote-state",
    "Versioning/2021-04-16",
    "Workspace/global-remote-state",
    "Organizations/plan",
  );
  const { api } = await administrator();
  const shown = await api.get(settings);
  expect(shown.status).toBe(200);
  expect(shown.body.data).toMatchObject({
    id: "general-settings",
    type: "general-settings",
    attributes: { "default-remote-state-access": false },
  });
  const shares = async (attributes = {}) =>
    (await newWorkspace(fixture(), attributes)).attributes["global-remote-state"];
  expect(await shares()).toBe(false);
  const changed = await api.patch(settings, input({ "default-remote-state-access": true }));
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes["default-remote-state-access"]).toBe(true);
  expect((await api.patch(settings, input({}))).body).toEqual(changed.body);
  expect(await shares()).toBe(true);
  expect(await shares({ "global-remote-state": false })).toBe(false);
  const wrong = await api.patch(settings, input({ "default-remote-state-access": "yes" }));
  expect(wrong.status).toBe(422);
});

test("an administrator lists organizations with their owners", async () => {
  proves("Real clients/7");
  const { api } = await administrator();
  const { owner, outsider } = fixture();
  const [name, other] = [await newOrganization(owner.api), await newOrganization(owner.api)];
  const owners = async (organization: string) => {
    const { status, body } = await api.get(`/admin/organizations?include=owners&q=${organization}`);
    expect(status).toBe(200);
    expect(body.data).toHaveLength(1);
    expect(body.included).toEqual([
      expect.objectContaining({
        type: "users",
        id: owner.id,
        attributes: expect.objectContaining({ username: owner.username }),
      }),
    ]);
    return body.data[0].relationships.owners.data;
  };
  expect(await owners(name)).toEqual([{ type: "users", id: owner.id }]);
  expect(await owners(other)).toEqual([{ type: "users", id: owner.id }]);
  const all = await api.get("/admin/organizations?include=owners&page[size]=100");
  const ids: string[] = all.body.included.map(({ id }: { id: string }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect((await outsider.api.get("/admin/organizations?include=owners")).status).toBe(404);
});

test("an administrator sees every organization and sets its plan; other users do not", async () => {
  proves("Organizations/plan");
  const { api } = await administrator();
  const { owner } = fixture();
  const name = await newOrganization(owner.api);
  const list = await api.get(`/admin/organizations?q=${name}`);
  expect(list.status).toBe(200);
  expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([name]);
  expect((await api.get("/admin/organizations?page[size]=0")).status).toBe(400);
  const path = `/admin/organizations/${name}`;
  const shown = await api.get(path);
  expect(shown.status).toBe(200);
  expect(shown.body.data.attributes["plan-identifier"]).toBe("premium");
  const plan = (identifier: string) => document("organizations", { "plan-identifier": identifier });
  const changed = await api.patch(path, plan("free"));
  expect(changed.status).toBe(200);
  const own = await owner.api.get(`/organizations/${name}`);
  expect(own.body.data.attributes["plan-identifier"]).toBe("free");
  const wrong = await api.patch(path, plan("gold"));
  expect(wrong.status).toBe(422);
  expect(problems(wrong)).toEqual({ "/data/attributes/plan-identifier": "Plan is invalid" });
  expect((await api.get("/admin/organizations/nowhere")).status).toBe(404);
  // An administrator has no permission in the organization itself.
  expect((await api.get(`/organizations/${name}`)).status).toBe(404);

  expect((await owner.api.get("/admin/organizations")).status).toBe(404);
  expect((await owner.api.get(path)).status).toBe(404);
  expect((await owner.api.patch(path, plan("premium"))).status).toBe(404);
  expect((await owner.api.get(settings)).status).toBe(404);
  expect((await owner.api.patch(settings, input({}))).status).toBe(404);
});

test("administrators set plan-timeout and apply-timeout, which runners receive with the lock of a run", async () => {
  const { api } = await administrator();
  const shown = async () => {
    const { attributes } = (await api.get(settings)).body.data;
    return [attributes["plan-timeout"], attributes["apply-timeout"]];
  };
  expect(await shown()).toEqual(["2h", "24h"]);
  await api.patch(settings, input({ "plan-timeout": "90m" }));
  expect(await shown()).toEqual(["90m", "24h"]);
  const wrong = await api.patch(settings, input({ "plan-timeout": "soon", "apply-timeout": "0h" }));
  expect(problems(wrong)).toEqual({
    "/data/attributes/plan-timeout":
      "Plan timeout is invalid; expected a number from 1 to 99999 and a unit s, m, h or d",
    "/data/attributes/apply-timeout":
      "Apply timeout is invalid; expected a number from 1 to 99999 and a unit s, m, h or d",
  });
  const { locks } = await fixture().stack.runnerCalls("runner");
  const { id } = await newWorkspace(fixture());
  const locked = await locks.lockAsRun({ workspaceId: id, runId: newId("run"), reason: "" });
  expect(locked).toMatchObject({ planTimeout: "90m", applyTimeout: "24h" });
  await api.patch(settings, input({ "plan-timeout": "2h" }));
});

test("administrators limit the workspaces of an organization by workspace-limit", async () => {
  const { api } = await administrator();
  const { owner } = fixture();
  const name = await newOrganization(owner.api);
  const path = `/admin/organizations/${name}`;
  const limit = async (value: unknown) =>
    (await api.patch(path, document("organizations", { "workspace-limit": value }))).body.data
      .attributes["workspace-limit"];
  const create = () =>
    owner.api.post(
      `/organizations/${name}/workspaces`,
      document("workspaces", { name: unusedName("workspace") }),
    );
  expect((await api.get(path)).body.data.attributes["workspace-limit"]).toBeNull();
  expect(await limit(2)).toBe(2);
  const created = await Promise.all([create(), create(), create()]);
  expect(created.map(({ status }) => status).toSorted()).toEqual([201, 201, 422]);
  expect(errorDetails(await create())).toEqual([
    "The organization has reached its limit of 2 workspaces.",
  ]);
  const invalid = await owner.api.post(
    `/organizations/${name}/workspaces`,
    document("workspaces", { name: "a/b" }),
  );
  expect(errorDetails(invalid)).toEqual([
    "Name is invalid",
    "The organization has reached its limit of 2 workspaces.",
  ]);
  expect(await limit(undefined)).toBe(2);
  expect(await limit(null)).toBeNull();
  expect((await create()).status).toBe(201);
  const wrong = await api.patch(path, document("organizations", { "workspace-limit": -1 }));
  expect(wrong.status).toBe(422);
});

test("administrators delete any organization, as its owner could", async () => {
  const { api } = await administrator();
  const { owner } = fixture();
  const name = await newOrganization(owner.api);
  const { id } = await newWorkspace({ organization: name, owner });
  const path = `/admin/organizations/${name}`;
  expect((await owner.api.delete(path)).status).toBe(404);
  expect((await api.delete(path)).status).toBe(204);
  for (const gone of [`/organizations/${name}`, `/workspaces/${id}`]) {
    expect((await owner.api.get(gone)).status).toBe(404);
  }
  expect((await api.get(path)).status).toBe(404);
});

test("administrators list the workspaces of all organizations by name, by the status of the current run and in an order", async () => {
  const { owner, outsider, stack } = fixture();
  const administrator = await newUser(stack, { administrator: true });
  const organization = await newOrganization(owner.api);
  // The names of this test's workspaces contain this text. The lists are filtered by it, because other tests share the
  // installation.
  const part = unusedName("listed");
  const ids: string[] = [];
  const { reports: runner } = await stack.runnerCalls("runner");
  const runs = [
    [owner, organization, "planning", 20],
    [outsider, outsider.organization, "applied", 10],
  ] as const;
  for (const [index, [user, home, status, seconds]] of runs.entries()) {
    const made = await newWorkspace(
      { organization: home, owner: user },
      {
        name: `${part}-${index}`,
        ...(index === 0
          ? { "vcs-repo": { identifier: "acme/network", "oauth-token-id": "ot-1" } }
          : {}),
      },
    );
    ids.push(made.id);
    await runner.run({ workspaceId: made.id, status, createdAt: timestampAt(seconds) });
  }
  ids.push((await newWorkspace({ organization, owner }, { name: `${part}-2` })).id);
  await owner.api.post(`/workspaces/${ids[2]}/actions/lock`);

  const path = "/admin/workspaces";
  const list = async (query: string) => {
    const answer = await administrator.api.get(`${path}?q=${part.toUpperCase()}${query}`);
    expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
    return answer.body;
  };
  const found = async (query: string) =>
    (await list(query)).data.map(({ id }: { id: string }) => ids.indexOf(id));
  await waitFor(async () => {
    expect(await found("&filter[current_run][status]=planning,applied")).toEqual([0, 1]);
    return true;
  });
  expect(await found("")).toEqual([0, 1, 2]);
  expect(await found("&sort=-name")).toEqual([2, 1, 0]);
  expect(await found("&sort=current-run.created-at")).toEqual([2, 1, 0]);
  expect(await found("&sort=-current-run.created-at")).toEqual([0, 1, 2]);
  expect(await found("&filter[current_run][status]=applied")).toEqual([1]);
  const second = await list("&page[size]=2&page[number]=2");
  expect(second.data).toHaveLength(1);
  expect(second.meta.pagination).toMatchObject({ "total-count": 3, "total-pages": 2 });

  const { data, included } = await list("&include=organization,current_run");
  expect(data[0]).toMatchObject({
    type: "workspaces",
    attributes: { name: `${part}-0`, locked: false, "vcs-repo": { identifier: "acme/network" } },
    relationships: {
      organization: { data: { type: "organizations", id: organization } },
      "current-run": { data: { type: "runs" } },
    },
  });
  expect(data[2]).toMatchObject({
    attributes: { locked: true, "vcs-repo": null },
    relationships: { "current-run": { data: null } },
  });
  const types = included.map(({ type }: { type: string }) => type).toSorted();
  expect(types).toEqual(["organizations", "organizations", "runs", "runs"]);
  expect((await list("")).included).toBeUndefined();

  expect((await administrator.api.get(`${path}?sort=latest-change-at`)).status).toBe(400);
  expect((await administrator.api.get(`${path}?include=outputs`)).status).toBe(400);
  for (const { api } of [owner, outsider]) expect((await api.get(path)).status).toBe(404);
});
