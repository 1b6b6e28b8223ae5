import { routes } from "@statehouse/gateway/routes";
import { proves } from "@statehouse/testing/proves";
import { beforeAll, describe, expect, test } from "vitest";
import { type Api, document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { announcement, expectStatus, stateFile } from "../stack/state.ts";
import { type ApiUser, newUser, problems, recordedApi, useFixture } from "./fixture.ts";
import { bodyFor, createObjects, type ObjectIds, parametersOf, pathWith } from "./object-ids.ts";
import { expectAlike } from "./probe.ts";

const fixture = useFixture();

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TWO_YEARS = 63_072_000_000;

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

const policies = (maxima: Record<string, unknown>) =>
  document("organization-token-ttl-policies", {
    "token-ttl-policies": Object.entries(maxima).map(([type, max]) => ({
      "token-type": type,
      "max-ttl-ms": max,
    })),
  });

const enabled = (on: boolean) => document("organizations", { "max-ttl-enabled": on });

const maxima = (body: {
  data: { attributes: { "token-type": string; "max-ttl-ms": number } }[];
}): Record<string, number> =>
  Object.fromEntries(
    body.data.map(({ attributes }) => [attributes["token-type"], attributes["max-ttl-ms"]]),
  );

/** Creates a separate organization, and a token of its owner that expires after an hour. */
async function limitedOrganization(owner: ApiUser) {
  const organization = await newOrganization(owner.api);
  const made = await expectStatus(
    201,
    owner.api.post(
      `/users/${owner.id}/authentication-tokens`,
      document("authentication-tokens", { "expired-at": inMs(HOUR) }),
    ),
  );
  const short: Api = recordedApi(fixture().url, made.body.data.attributes.token);
  const path = `/organizations/${organization}`;
  return { organization, path, policiesPath: `${path}/token-ttl-policies`, short };
}

describe("the policies", () => {
  test("are two years for each type of token until they are updated, together or alone", async () => {
    proves("Organizations/max-ttl-enabled and token-ttl-policies");
    const { owner } = fixture();
    const { policiesPath } = await limitedOrganization(owner);
    const listed = await owner.api.get(policiesPath);
    expect(listed.status).toBe(200);
    expect(maxima(listed.body)).toEqual({
      user: TWO_YEARS,
      team: TWO_YEARS,
      organization: TWO_YEARS,
      "audit-trails": TWO_YEARS,
    });
    expect(listed.body.data[0]).toMatchObject({
      id: expect.stringMatching(/^ttlp-/),
      type: "organization-token-ttl-policies",
      attributes: { "created-at": expect.any(String), "updated-at": expect.any(String) },
    });
    expect(new Set(listed.body.data.map(({ id }: { id: string }) => id)).size).toBe(4);
    expect(listed.body.meta.pagination).toMatchObject({ "total-count": 4, "total-pages": 1 });
    const second = await owner.api.get(`${policiesPath}?page[size]=3&page[number]=2`);
    expect(Object.keys(maxima(second.body))).toEqual(["audit-trails"]);
    expect((await owner.api.get(`${policiesPath}?page[number]=x`)).status).toBe(400);

    const all = { user: 5 * TWO_YEARS, team: DAY, organization: HOUR, "audit-trails": 1000 };
    const updated = await owner.api.patch(policiesPath, policies(all));
    expect(updated.status).toBe(200);
    expect(maxima(updated.body)).toEqual(all);
    expect(updated.body.data[1].id).toBe(listed.body.data[1].id);
    // One client spells the key `audit-trails` with an underscore.
    const one = await owner.api.patch(policiesPath, policies({ audit_trails: DAY }));
    expect(maxima(one.body)).toEqual({ ...all, "audit-trails": DAY });
    expect((await owner.api.get(policiesPath)).body.data).toEqual(one.body.data);
  });

  test("are refused with all problems at once, and nothing is changed", async () => {
    const { owner } = fixture();
    const { policiesPath } = await limitedOrganization(owner);
    const refused = await owner.api.patch(policiesPath, policies({ team: 0, runner: DAY }));
    expect(refused.status).toBe(422);
    const at = "/data/attributes/token-ttl-policies";
    expect(problems(refused)).toEqual({
      [`${at}/0/max-ttl-ms`]: "Max ttl ms 0 is out of range; expected 1000 to 315360000000000.",
      [`${at}/1/token-type`]:
        "Token type 'runner' is unknown; expected one of user, team, organization, audit-trails.",
    });
    for (const malformed of [{ team: "1h" }, { team: 1.5 }, { team: null }]) {
      const answer = await owner.api.patch(policiesPath, policies(malformed));
      expect(answer.status).toBe(422);
      expect(Object.keys(problems(answer))).toEqual([`${at}/0/max-ttl-ms`]);
    }
    const without = document("organization-token-ttl-policies", {});
    expect(Object.keys(problems(await owner.api.patch(policiesPath, without)))).toEqual([at]);
    expect(maxima((await owner.api.get(policiesPath)).body).team).toBe(TWO_YEARS);
  });

  test("are read and updated by owners only; other users receive not found", async () => {
    const { owner, reader, outsider, organization } = fixture();
    const path = `/organizations/${organization}/token-ttl-policies`;
    for (const [{ api }, status] of [
      [owner, 200],
      [reader, 404],
      [outsider, 404],
    ] as const) {
      expect((await api.get(path)).status).toBe(status);
      expect((await api.patch(path, policies({ team: TWO_YEARS }))).status).toBe(status);
    }
  });
});

test("tokens of teams and of the organization expire no later, and by default then", async () => {
  proves(
    "Credentials/token-ttl-policies: team, organization and audit-trails tokens",
    "Organizations/max-ttl-enabled and token-ttl-policies",
  );
  const { owner } = fixture();
  const { path, policiesPath } = await limitedOrganization(owner);
  const teams = await owner.api.get(`${path}/teams?q=owners`);
  const team = teams.body.data[0].id;
  const limits = { team: 2 * DAY, organization: 3 * DAY, "audit-trails": 4 * DAY };
  await expectStatus(200, owner.api.patch(policiesPath, policies(limits)));
  for (const [at, type, most] of [
    [`/teams/${team}/authentication-token`, "team", 2 * DAY],
    [`/teams/${team}/authentication-tokens`, "team", 2 * DAY],
    [`${path}/authentication-token`, "organization", 3 * DAY],
    [`${path}/authentication-token?token=audit-trails`, "audit-trails", 4 * DAY],
  ] as const) {
    let made = 0;
    const create = (attributes: Record<string, unknown>) =>
      owner.api.post(
        at,
        document("authentication-tokens", { description: `${at} ${++made}`, ...attributes }),
      );
    const late = { "expired-at": inMs(most + HOUR) };
    expect((await create(late)).status, "before").toBe(201);
    expect((await owner.api.patch(path, enabled(true))).status).toBe(200);
    const refused = await create(late);
    expect(refused.status, at).toBe(422);
    const [[pointer, detail] = []] = Object.entries(problems(refused));
    expect(pointer).toBe("/data/attributes/expired-at");
    expect(detail).toMatch(
      new RegExp(
        `^Expired at ${late["expired-at"]} is too late; expected at most \\S+Z, the organization's maximum of ${most} ms for ${type} tokens\\.$`,
      ),
    );
    const usual = (await expectStatus(201, create({}))).body.data.attributes;
    expect(Date.parse(usual["expired-at"]) - Date.parse(usual["created-at"]), at).toBe(most);
    const soon = inMs(most - HOUR);
    const created = (await expectStatus(201, create({ "expired-at": soon }))).body.data;
    expect(created.attributes["expired-at"]).toBe(soon);
    expect((await owner.api.patch(path, enabled(false))).status).toBe(200);
  }
  const own = await owner.api.post(
    `/users/${owner.id}/authentication-tokens`,
    document("authentication-tokens", { "expired-at": inMs(5 * TWO_YEARS) }),
  );
  expect(own.status, "a token of a user belongs to no organization").toBe(201);
});

test("an organization is created with the maxima enabled", async () => {
  proves("Organizations/max-ttl-enabled and token-ttl-policies");
  const { owner } = fixture();
  const body = document("organizations", {
    name: `limited-${Date.now()}`,
    email: "a@b.example",
    "max-ttl-enabled": true,
  });
  const { data } = (await expectStatus(201, owner.api.post("/organizations", body))).body;
  const token = await expectStatus(
    201,
    owner.api.post(`/organizations/${data.id}/authentication-token`),
  );
  const { "created-at": from, "expired-at": until } = token.body.data.attributes;
  expect(Date.parse(until) - Date.parse(from)).toBe(TWO_YEARS);
});

describe("a user's token that lives longer than the maximum", () => {
  let owner: ApiUser;
  let organization: string;
  let path: string;
  let policiesPath: string;
  let short: Api;
  let objects: ObjectIds;
  /** Another organization of the owner, without maximum lifetimes. */
  let other: string;

  beforeAll(async () => {
    owner = await newUser(fixture().stack);
    ({ organization, path, policiesPath, short } = await limitedOrganization(owner));
    other = await newOrganization(owner.api);
    objects = await createObjects({ organization, owner });
    objects.runId = "run-0000000000000000";
    await expectStatus(200, owner.api.patch(policiesPath, policies({ user: DAY })));
    expect((await owner.api.get(path)).status, "until they are enabled").toBe(200);
    await expectStatus(200, owner.api.patch(path, enabled(true)));
  });

  test("has no access to the organization and its objects, and a token with a shorter lifetime has", async () => {
    proves("Credentials/token-ttl-policies: user tokens that live longer");
    const team = await short.post(`/teams/${objects.teamId}/authentication-tokens`, {
      data: { type: "authentication-tokens", attributes: { description: "mine" } },
    });
    const member = await newUser(fixture().stack);
    const email = `${member.username}@example.com`;
    const invited = await expectStatus(
      201,
      short.post(
        `${path}/organization-memberships`,
        document("organization-memberships", { email }),
      ),
    );
    const invitation = `/organization-memberships/${invited.body.data.id}`;
    await expectStatus(200, member.api.post(`${invitation}/actions/accept`));
    const shown = [
      path,
      policiesPath,
      `${path}/workspaces`,
      `${path}/projects`,
      `${path}/teams`,
      `${path}/organization-memberships`,
      `${path}/agent-pools`,
      `${path}/tags`,
      `${path}/workspaces/${objects.name}`,
      `/workspaces/${objects.workspaceId}`,
      `/workspaces/${objects.workspaceId}/current-state-version`,
      `/workspaces/${objects.workspaceId}/current-state-version-outputs`,
      `/workspaces/${objects.workspaceId}/resources`,
      `/projects/${objects.projectId}`,
      `/state-versions/${objects.stateVersionId}`,
      `/state-version-outputs/${objects.stateVersionOutputId}`,
      `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${objects.name}`,
      `/teams/${objects.teamId}`,
      `/team-projects/${objects.teamProjectId}`,
      `/team-workspaces?filter[workspace][id]=${objects.workspaceId}`,
      `/agent-pools/${objects.agentPoolId}`,
      `/ssh-keys/${objects.sshKeyId}`,
      `/organization-memberships/${objects.membershipId}`,
      `/authentication-tokens/${team.body.data.id}`,
      `/users/${member.id}`,
    ];
    for (const at of shown) {
      expect((await owner.api.get(at)).status, at).toBe(404);
      expect((await short.get(at)).status, at).toBe(200);
    }
    const state = announcement(stateFile({ serial: 9 }));
    const writes = [
      ["POST", `/workspaces/${objects.workspaceId}/actions/lock`, undefined],
      ["POST", `/workspaces/${objects.workspaceId}/state-versions`, state],
      ["POST", `${path}/workspaces`, document("workspaces", { name: "more" })],
      ["PATCH", path, enabled(false)],
      ["PATCH", policiesPath, policies({ user: TWO_YEARS })],
      ["DELETE", `/organization-memberships/${objects.membershipId}`, undefined],
      ["POST", `/organization-memberships/${objects.membershipId}/actions/accept`, undefined],
    ] as const;
    for (const [method, at, body] of writes) {
      expect((await owner.api.send(method, at, body)).status, `${method} ${at}`).toBe(404);
    }
    const names = async (api: Api) =>
      (await api.get("/organizations")).body.data.map(({ id }: { id: string }) => id);
    expect(await names(owner.api)).toEqual([other]);
    expect((await names(short)).toSorted()).toEqual([organization, other].toSorted());
    expect((await owner.api.get("/account/details")).status).toBe(200);
  });

  test("receives from every route the response for objects that do not exist", async () => {
    proves("Credentials/token-ttl-policies: user tokens that live longer");
    // Users and their tokens do not belong to an organization.
    const own = new Set(["userId", "tokenId", "username"]);
    const inOrganization = routes.filter(
      (route) =>
        !route.path.startsWith("/api/v2/admin/") &&
        // An avatar is drawn for every id, even if no object has the id.
        !route.path.startsWith("/avatars/") &&
        parametersOf(route).some((name) => !own.has(name)),
    );
    expect(inOrganization.length).toBeGreaterThan(60);
    for (const route of inOrganization) {
      const names = parametersOf(route).filter((name) => !own.has(name));
      await expectAlike({
        what: `${route.method} ${route.path}`,
        foreign: names.map((name) => objects[name] ?? ""),
        call: (values) => {
          const changed = { ...objects };
          for (const [place, name] of names.entries()) changed[name] = values[place] ?? "";
          const target = fixture().url + pathWith(route, changed);
          return owner.api.send(route.method, target, bodyFor(route, objects));
        },
      });
    }
    expect((await short.get(`/workspaces/${objects.workspaceId}`)).status).toBe(200);
  });

  test("has access again as soon as the maximum is raised or disabled", async () => {
    proves("Credentials/token-ttl-policies: user tokens that live longer");
    const status = async () => (await owner.api.get(`/workspaces/${objects.workspaceId}`)).status;
    expect(await status()).toBe(404);
    for (const [open, close] of [
      [
        () => short.patch(policiesPath, policies({ user: TWO_YEARS })),
        () => short.patch(policiesPath, policies({ user: DAY })),
      ],
      [() => short.patch(path, enabled(false)), () => short.patch(path, enabled(true))],
    ] as const) {
      await expectStatus(200, open());
      expect(await status()).toBe(200);
      await expectStatus(200, close());
      expect(await status()).toBe(404);
    }
    const user = await short.get("/account/details");
    expect(user.status).toBe(200);
  });

  test("is refused to an administrator of the installation, too", async () => {
    proves("Credentials/token-ttl-policies: user tokens that live longer");
    const administrator = await newUser(fixture().stack, { administrator: true });
    const made = await limitedOrganization(administrator);
    await expectStatus(200, administrator.api.patch(made.policiesPath, policies({ user: DAY })));
    await expectStatus(200, administrator.api.patch(made.path, enabled(true)));
    expect((await administrator.api.get(made.path)).status).toBe(404);
    expect((await administrator.api.get("/admin/users")).status).toBe(200);
    expect((await made.short.get(made.path)).status).toBe(200);
  });
});
