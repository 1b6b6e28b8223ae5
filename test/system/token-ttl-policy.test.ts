import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TWO_YEARS = 63_072_000_000;

const policies = (maxima: Record<string, unknown>) =>
  document("organization-token-ttl-policies", {
    "token-ttl-policies": Object.entries(maxima).map(([type, max]) => ({
      "token-type": type,
      "max-ttl-ms": max,
    })),
  });

const maxima = (body: {
  data: { attributes: { "token-type": string; "max-ttl-ms": number } }[];
}): Record<string, number> =>
  Object.fromEntries(
    body.data.map(({ attributes }) => [attributes["token-type"], attributes["max-ttl-ms"]]),
  );

/** The policies of an organization of its own. */
const newPolicies = async () =>
  `/organizations/${await newOrganization(fixture().owner.api)}/token-ttl-policies`;

describe("the policies", () => {
  test("are two years for each type of token until they are updated, together or alone", async () => {
    proves("Organizations/max-ttl-enabled and token-ttl-policies");
    const { owner } = fixture();
    const policiesPath = await newPolicies();
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
    // The spelling of one client.
    const one = await owner.api.patch(policiesPath, policies({ audit_trails: DAY }));
    expect(maxima(one.body)).toEqual({ ...all, "audit-trails": DAY });
    expect((await owner.api.get(policiesPath)).body.data).toEqual(one.body.data);
  });

  test("are refused with all problems at once, and nothing is changed", async () => {
    const { owner } = fixture();
    const policiesPath = await newPolicies();
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

  test("are read and updated by owners, and do not exist for strangers", async () => {
    const { owner, reader, stranger, organization } = fixture();
    const path = `/organizations/${organization}/token-ttl-policies`;
    for (const [{ api }, status] of [
      [owner, 200],
      [reader, 404],
      [stranger, 404],
    ] as const) {
      const answers = [await api.get(path), await api.patch(path, policies({ team: TWO_YEARS }))];
      for (const answer of answers) {
        expect([status, status === 404 ? 403 : 200]).toContain(answer.status);
      }
    }
    expect((await stranger.api.get(path)).status).toBe(404);
  });
});
