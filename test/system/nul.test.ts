import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { errorDetails, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture();

describe("a NUL, which PostgreSQL cannot store", () => {
  test.each([
    ["workspaces", "search[tags]"],
    ["workspaces", "search[name]"],
    ["workspaces", "filter[project][id]"],
    ["projects", "filter[names]"],
  ])("in a list of %s with %s returns 400", async (list, parameter) => {
    const { owner, organization } = fixture();
    const query = `${encodeURIComponent(parameter)}=a,b%00c`;
    const answer = await owner.api.get(`/organizations/${organization}/${list}?${query}`);
    expect(answer.status).toBe(400);
    expect(errorDetails(answer)).toEqual([expect.stringContaining("NUL")]);
  });

  test("in a path never returns 5xx", async () => {
    const { owner, organization } = fixture();
    for (const path of [
      "/organizations/a%00b",
      `/organizations/${organization}/workspaces/a%00b`,
      "/workspaces/ws-%00",
      "/state-versions/sv-%00",
      "/users/user-%00/authentication-tokens",
    ]) {
      expect((await owner.api.get(path)).status, path).toBe(404);
    }
  });

  test("in a body is refused and changes nothing", async () => {
    const { owner } = fixture();
    const { id, attributes } = await newWorkspace(fixture());
    const bodies = [
      ["PATCH", `/workspaces/${id}`, document("workspaces", { description: "a\0b" })],
      ["PATCH", `/workspaces/${id}`, document("workspaces", { "working-directory": "a\0b" })],
      ["POST", `/workspaces/${id}/actions/lock`, { reason: "a\0b" }],
      ["POST", `/workspaces/${id}/tag-bindings`, document("tag-bindings", { key: "a\0b" })],
    ] as const;
    for (const [method, path, body] of bodies) {
      const { status } = await owner.api.send(method, path, body);
      expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
      expect(status, JSON.stringify(body)).toBeLessThan(500);
    }
    const after = (await owner.api.get(`/workspaces/${id}`)).body.data.attributes;
    expect(after).toMatchObject({ description: attributes.description, locked: false });
  });
});
