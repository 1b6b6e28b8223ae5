import { proves } from "@statehouse/testing/proves";
import { afterEach, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { newUser, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();
const settings = "/admin/general-settings";
const wanted = (attributes: Record<string, unknown>) => document("general-settings", attributes);
const administrator = () => newUser(fixture().stack, { administrator: true });

afterEach(async () => {
  const { api } = await administrator();
  await api.patch(settings, wanted({ "default-remote-state-access": false }));
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
  const changed = await api.patch(settings, wanted({ "default-remote-state-access": true }));
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes["default-remote-state-access"]).toBe(true);
  expect((await api.patch(settings, wanted({}))).body).toEqual(changed.body);
  expect(await shares()).toBe(true);
  expect(await shares({ "global-remote-state": false })).toBe(false);
  const wrong = await api.patch(settings, wanted({ "default-remote-state-access": "yes" }));
  expect(wrong.status).toBe(422);
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
  expect((await owner.api.patch(settings, wanted({}))).status).toBe(404);
});
