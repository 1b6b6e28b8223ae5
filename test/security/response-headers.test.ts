import { expect, test } from "vitest";
import { inlineState, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, useFixture } from "../system/fixture.ts";

const fixture = useFixture();

test("no response lets a browser guess its type", async () => {
  const { owner, anonymous, url } = fixture();
  const answers = await Promise.all([
    owner.api.get("/account/details"),
    anonymous.get("/account/details"),
    owner.api.get("/nothing"),
    anonymous.get(`${url}/changelog`),
    anonymous.get(`${url}/app/settings/tokens`),
    anonymous.get(`${url}/.well-known/terraform.json`),
    anonymous.get(`${url}/v1/object/nothing`),
  ]);
  for (const { headers } of answers) expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test.each(["/changelog", "/app/settings/tokens"])(
  "the page %s runs and embeds nothing",
  async (path) => {
    const { headers } = await fixture().anonymous.get(`${fixture().url}${path}`);
    const policy = headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
  },
);

test("401 names the scheme of the credentials", async () => {
  const { owner, anonymous } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const state = inlineState(stateFile({ serial: 1, lineage: id }));
  const { body } = await owner.api.post(`/workspaces/${id}/state-versions`, state);
  const answers = await Promise.all([
    anonymous.get("/account/details"),
    anonymous.get(body.data.attributes["hosted-state-download-url"]),
  ]);
  for (const { status, headers } of answers) {
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toBe("Bearer");
  }
});
