import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, expect, test } from "vitest";
import { chainNow, verifyNow } from "../stack/audit-chain.ts";
import type { Answer, Api } from "../stack/http.ts";
import { document } from "../stack/http.ts";
import { newOrganization, organizationId } from "../stack/organization.ts";
import { expectStatus } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import { newUser, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();
const path = "/organization/audit-trail";

interface Entry {
  id: string;
  timestamp: string;
  auth: { accessor_id: string; description: string; type: string; organization_id: string };
  resource: { id: string; type: string; action: string; meta: Record<string, unknown> };
}

let organization: string;
let id: string;
let owner: Awaited<ReturnType<typeof newUser>>;
let auditor: Api;
beforeAll(async () => {
  owner = await newUser(fixture().stack);
  organization = await newOrganization(owner.api);
  id = await organizationId(fixture().stack, organization);
  auditor = await tokenOf("?token=audit-trails");
});

/** Creates a token of the organization and returns its client. */
async function tokenOf(query = ""): Promise<Api> {
  const { body } = await expectStatus(
    201,
    owner.api.post(
      `/organizations/${organization}/authentication-token${query}`,
      document("authentication-tokens", {}),
    ),
  );
  return recordedApi(fixture().url, body.data.attributes.token);
}

const read = async (query = "", api = auditor): Promise<Answer["body"]> =>
  (await expectStatus(200, api.get(`${path}${query}`))).body;

const all = async (query = "", api?: Api): Promise<Entry[]> =>
  (await read(`?page[size]=100${query}`, api)).data;

const by = (type: string, action: string) => (entry: Entry) =>
  entry.resource.type === type && entry.resource.action === action;

test("the trail contains changes of all services and names actor, resource and request", async () => {
  proves("Audit trail/changes of all services, with actor, resource and request");
  const workspace = await newWorkspaceIn(owner.api, organization, {});
  const team = await expectStatus(
    201,
    owner.api.post(`/organizations/${organization}/teams`, document("teams", { name: "auditors" })),
  );
  const entries = await waitFor(async () => {
    const found = await all();
    expect(found.filter(by("workspace", "create"))).toHaveLength(1);
    expect(found.filter(by("team", "create")).map(({ resource }) => resource.id)).toContain(
      team.body.data.id,
    );
    return found;
  });
  expect(entries.find(by("workspace", "create"))).toMatchObject({
    version: "0",
    type: "Resource",
    auth: {
      accessor_id: owner.id,
      description: "user",
      type: "Client",
      impersonator_id: null,
      organization_id: id,
    },
    request: { id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    resource: {
      id: workspace.id,
      type: "workspace",
      action: "create",
      meta: { outcome: "succeeded", code: null, attempts: 1, token_id: expect.any(String) },
    },
  });
  const times = entries.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted());
});

test("reading the trail is recorded", async () => {
  proves(
    "Audit trail/the audit trails token, the organization token and owners read it; reading is recorded",
  );
  const { body } = await expectStatus(
    200,
    owner.api.get(`/organizations/${organization}/authentication-token?token=audit-trails`),
  );
  const readings = () => all().then((entries) => entries.filter(by("audit-trail", "read")));
  const before = (await readings()).length;
  const found = await waitFor(async () => {
    const later = await readings();
    expect(later.length).toBeGreaterThan(before);
    return later;
  });
  expect(found.at(-1)).toMatchObject({
    auth: { accessor_id: body.data.id, type: "Client" },
    resource: { meta: { outcome: "succeeded", token_id: body.data.id } },
  });
});

test("pages stay as they are while records are added, and together contain each record once", async () => {
  proves("Audit trail/pages are stable by time and id, since selects later records");
  const first = await read("?page[size]=3");
  expect(first.pagination).toMatchObject({ current_page: 1, prev_page: null, next_page: 2 });
  const pages: Entry[][] = [];
  for (let number = 1; number <= 3; number++) {
    pages.push((await read(`?page[size]=3&page[number]=${number}`)).data);
    await newWorkspaceIn(owner.api, organization, {});
  }
  expect(pages[0]).toEqual(first.data);
  const whole = await all();
  expect(pages.flat().map((entry) => entry.id)).toEqual(whole.slice(0, 9).map((entry) => entry.id));
  expect(new Set(whole.map((entry) => entry.id)).size).toBe(whole.length);
  expect((await read("?page[number]=1000")).data).toEqual([]);
});

test("since returns only later records, to the microsecond", async () => {
  proves("Audit trail/pages are stable by time and id, since selects later records");
  const whole = await all();
  const known = whole[4];
  const later = await all(`&since=${encodeURIComponent(known?.timestamp ?? "")}`);
  expect(later.slice(0, 3)).toEqual(whole.slice(5, 8));
  expect(await all("&since=2999-01-01")).toEqual([]);
  for (const wrong of ["yesterday", "2026-13-01", "2026-01-01T00:00"]) {
    expect((await auditor.get(`${path}?since=${wrong}`)).status).toBe(400);
  }
});

test("the audit trails token, the organization token and owners read the trail of their organization only", async () => {
  proves(
    "Audit trail/the audit trails token, the organization token and owners read it; reading is recorded",
  );
  const { outsider, anonymous, reader, organization: other } = fixture();
  const named = `&filter[organization][name]=${organization}`;
  const ids = (entries: readonly Entry[]) => entries.slice(0, 5).map((entry) => entry.id);
  const expected = ids(await all());
  expect(ids(await all("", await tokenOf()))).toEqual(expected);
  expect(ids(await all(named, owner.api))).toEqual(expected);
  expect((await all()).every(({ auth }) => auth.organization_id === id)).toBe(true);
  expect((await owner.api.get(path)).status).toBe(400);
  expect((await auditor.get(`${path}?${named}`)).status).toBe(400);
  expect((await outsider.api.get(`${path}?${named}`)).status).toBe(404);
  expect((await reader.api.get(`${path}?filter[organization][name]=${other}`)).status).toBe(404);
  expect((await anonymous.get(path)).status).toBe(401);
  // The token reads the trail and nothing else.
  expect((await auditor.get(`/organizations/${organization}`)).status).toBe(404);
});

test("the records of all services are sealed in valid chains", async () => {
  const { stack } = fixture();
  await newWorkspaceIn(owner.api, organization, {});
  const { length: recorded } = await all();
  await waitFor(async () => {
    await chainNow(stack);
    const { findings, records } = await verifyNow(stack, id);
    expect(findings).toEqual([]);
    expect(records).toBeGreaterThanOrEqual(recorded);
    return true;
  });
});
