import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { problems, useFixture } from "./fixture.ts";

const fixture = useFixture({ settings: { TOKEN_MAX_DAYS: "30" } });

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

test("if the installation limits lifetimes, no token exceeds the limit, with or without an expiry", async () => {
  proves("Teams and users/tokens: expire after two");
  const { owner, organization } = fixture();
  const teams = await owner.api.get(`/organizations/${organization}/teams?q=owners`);
  const team = teams.body.data[0].id;
  for (const path of [
    `/users/${owner.id}/authentication-tokens`,
    `/teams/${team}/authentication-token`,
    `/teams/${team}/authentication-tokens`,
    `/organizations/${organization}/authentication-token`,
    `/organizations/${organization}/authentication-token?token=audit-trails`,
  ]) {
    const ask = (attributes: Record<string, unknown>) =>
      owner.api.post(path, document("authentication-tokens", { description: path, ...attributes }));
    const late = await ask({ "expired-at": inDays(31) });
    expect(late.status, path).toBe(422);
    expect(problems(late)).toEqual({
      "/data/attributes/expired-at": "Expired at must be within 30 days",
    });
    const usual = await ask({ description: "without an expiry" });
    expect(usual.status, path).toBe(201);
    const expiry: string = usual.body.data.attributes["expired-at"];
    expect(expiry > inDays(29) && expiry < inDays(31), expiry).toBe(true);
    const soon = inDays(7);
    const created = await ask({ "expired-at": soon });
    expect(created.body.data.attributes["expired-at"]).toBe(soon);
  }
});
