import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { newUser, newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();
const OLDER = "data-retention-policy-delete-olders";
const NEVER = "data-retention-policy-dont-deletes";
const older = (days?: unknown) => document(OLDER, { "delete-older-than-n-days": days });
const never = document(NEVER, {});
const ofStates = (days: number | null) =>
  document(OLDER, { "state-versions-delete-after-n-days": days });
const SITE = "/admin/general-settings/relationships/data-retention-policy";

async function objects() {
  const { owner } = fixture();
  const organization = await newOrganization(owner.api);
  const { id } = await newWorkspace({ organization, owner });
  const tail = "relationships/data-retention-policy";
  return {
    api: owner.api,
    own: { workspace: `/workspaces/${id}`, organization: `/organizations/${organization}` },
    workspace: `/workspaces/${id}/${tail}`,
    organization: `/organizations/${organization}/${tail}`,
  };
}

test.each(["workspace", "organization"] as const)(
  "a policy of a %s can be set, changed, replaced by the other kind, and deleted",
  async (kind) => {
    proves(
      "Versioning/2024-01-24",
      "Versioning/2023-11-15",
      "Data retention/policies of workspace, organization",
      "Retention policies/POST creates or updates",
    );
    const { api, own, [kind]: path } = await objects();
    const shown = async () =>
      (await api.get(own[kind])).body.data.relationships["data-retention-policy"].data;
    expect((await api.get(path)).status).toBe(404);
    expect(await shown()).toBe(null);
    const set = await api.post(path, older(30));
    expect(set.status).toBe(200);
    const { id } = set.body.data;
    expect(set.body.data).toEqual({
      id: expect.stringMatching(/^drp-[A-Za-z0-9]{16}$/),
      type: OLDER,
      attributes: {
        "delete-older-than-n-days": 30,
        "state-versions-delete-after-n-days": null,
      },
      relationships: {
        target: {
          data: { type: `${kind}s`, id: own[kind].split("/")[2] },
          links: { related: `/api/v2${own[kind]}` },
        },
      },
      links: { self: `/api/v2${path}` },
    });
    expect((await api.get(path)).body).toEqual(set.body);
    expect(await shown()).toEqual({ type: OLDER, id });

    const changed = await api.patch(path, older(7));
    expect(changed.status).toBe(200);
    expect(changed.body.data).toMatchObject({ id, attributes: { "delete-older-than-n-days": 7 } });

    const replaced = await api.post(path, never);
    expect(replaced.body.data).toMatchObject({ id, type: NEVER, attributes: {} });
    expect(await shown()).toEqual({ type: NEVER, id });

    expect((await api.delete(path)).status).toBe(204);
    expect((await api.delete(path)).status).toBe(204);
    expect(await shown()).toBe(null);

    const made = await api.patch(path, older(5));
    expect(made.status).toBe(200);
    expect(await shown()).toEqual({ type: OLDER, id: made.body.data.id });
  },
);

test("a workspace inherits its organization's policy, or the site's; documents show only their own", async () => {
  proves(
    "Versioning/2024-02-20",
    "Data retention/policies of workspace, organization",
    "Retention policies/GET",
  );
  const { api, own, workspace, organization } = await objects();
  const administrator = await newUser(fixture().stack, { administrator: true });
  const days = async (path: string) =>
    (await api.get(path)).body.data?.attributes["delete-older-than-n-days"];
  expect((await administrator.api.get(SITE)).status).toBe(404);
  try {
    const site = await administrator.api.patch(SITE, older(90));
    expect(site.status).toBe(200);
    expect((await administrator.api.get(SITE)).body).toEqual(site.body);
    expect((await administrator.api.post(SITE, older(91))).status).toBe(200);
    expect([await days(workspace), await days(organization)]).toEqual([91, 91]);
    await api.post(organization, older(30));
    expect([await days(workspace), await days(organization)]).toEqual([30, 30]);
    await api.post(workspace, older(7));
    expect([await days(workspace), await days(organization)]).toEqual([7, 30]);
    await api.delete(workspace);
    const { relationships } = (await api.get(own.workspace)).body.data;
    expect(relationships["data-retention-policy"]).toEqual({ data: null });
    await api.post(organization, never);
    expect((await api.get(workspace)).body.data.type).toBe(NEVER);
    await api.delete(organization);
    expect([await days(workspace), await days(organization)]).toEqual([91, 91]);
  } finally {
    expect((await administrator.api.delete(SITE)).status).toBe(204);
  }
  expect((await api.get(workspace)).status).toBe(404);
});

test("an invalid policy is refused and changes nothing", async () => {
  proves("Retention policies/POST creates or updates");
  const { api, workspace, organization } = await objects();
  const administrator = await newUser(fixture().stack, { administrator: true });
  for (const [user, path] of [
    [api, workspace],
    [api, organization],
    [administrator.api, SITE],
  ] as const) {
    expect(problems(await user.post(path, older()))).toEqual({
      "/data/attributes/delete-older-than-n-days": "Delete older than n days is required",
    });
    const wrong = await user.post(path, older(0));
    expect(wrong.status).toBe(422);
    const text = await user.patch(path, older("7"));
    expect(text.status).toBe(422);
    const kind = await user.post(path, document("data-retention-policies", {}));
    expect(Object.keys(problems(kind))).toEqual(["/data/type"]);
    expect((await user.get(path)).status).toBe(404);
  }
});

test("users who may not change a policy get 404; only administrators may change the site's", async () => {
  const { reader, outsider, owner, organization, readable } = fixture();
  const { id } = await newWorkspace(fixture(), {}, readable.id);
  const tail = "relationships/data-retention-policy";
  for (const path of [`/workspaces/${id}/${tail}`, `/organizations/${organization}/${tail}`]) {
    await owner.api.post(path, older(30));
    expect((await reader.api.get(path)).status).toBe(200);
    expect((await outsider.api.get(path)).status).toBe(404);
    for (const { api } of [reader, outsider]) {
      expect((await api.post(path, never)).status).toBe(404);
      expect((await api.patch(path, never)).status).toBe(404);
      expect((await api.delete(path)).status).toBe(404);
    }
    await owner.api.delete(path);
  }
  expect((await owner.api.get(SITE)).status).toBe(404);
  expect((await owner.api.post(SITE, never)).status).toBe(404);
  expect((await owner.api.patch(SITE, never)).status).toBe(404);
  expect((await owner.api.delete(SITE)).status).toBe(404);
});

test("effective-state-version-retention-desc and parent-data-retention-policy-info show which policy applies", async () => {
  const { api, own, workspace, organization } = await objects();
  const administrator = await newUser(fixture().stack, { administrator: true });
  const shown = async () => {
    const [ofWorkspace, ofOrganization] = [
      (await api.get(own.workspace)).body.data.attributes,
      (await api.get(own.organization)).body.data.attributes,
    ];
    expect(ofWorkspace["effective-run-data-retention-desc"]).toBeNull();
    return [
      ofWorkspace["effective-state-version-retention-desc"],
      ofOrganization["parent-data-retention-policy-info"],
    ];
  };
  await administrator.api.delete(SITE);
  expect(await shown()).toEqual([null, null]);
  const site = await administrator.api.post(SITE, older(365));
  expect(site.body.data).toMatchObject({ links: { self: `/api/v2${SITE}` } });
  expect(site.body.data.relationships).toEqual({});
  const parent = "State versions are deleted after 365 days.";
  expect(await shown()).toEqual(["365 days", parent]);
  await api.post(organization, older(30));
  expect(await shown()).toEqual(["30 days", parent]);
  const inherited = await api.get(workspace);
  expect(inherited.body.data.links.self).toBe(`/api/v2${organization}`);
  await api.post(workspace, older(1));
  expect(await shown()).toEqual(["1 day", parent]);
  await api.patch(workspace, ofStates(2));
  expect(await shown()).toEqual(["2 days", parent]);
  await administrator.api.patch(SITE, ofStates(100));
  expect(await shown()).toEqual(["2 days", "State versions are deleted after 100 days."]);
  await administrator.api.patch(SITE, ofStates(null));
  await api.post(workspace, never);
  expect(await shown()).toEqual([null, parent]);
  await administrator.api.post(SITE, never);
  expect(await shown()).toEqual([null, "State versions are kept."]);
  await administrator.api.delete(SITE);
});

test("state-versions-delete-after-n-days applies to state versions instead of delete-older-than-n-days", async () => {
  const { api, workspace } = await objects();
  const shown = async () => (await api.get(workspace)).body.data.attributes;
  const days = (older: number | null, states: number | null) => ({
    "delete-older-than-n-days": older,
    "state-versions-delete-after-n-days": states,
  });
  expect((await api.post(workspace, ofStates(7))).status).toBe(200);
  expect(await shown()).toEqual(days(null, 7));
  await api.patch(workspace, older(30));
  expect(await shown()).toEqual(days(30, 7));
  await api.patch(workspace, ofStates(null));
  expect(await shown()).toEqual(days(30, null));
  expect(problems(await api.patch(workspace, ofStates(0)))).toEqual({
    "/data/attributes/state-versions-delete-after-n-days":
      "State versions delete after n days must be above 0",
  });
});
