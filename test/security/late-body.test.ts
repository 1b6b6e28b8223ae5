import { describe, expect, test } from "vitest";
import { type HalfSent, halfSent } from "../stack/half-sent.ts";
import { document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { startProcesses, startStack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { type ApiUser, newUser, newWorkspace, useStack } from "../system/fixture.ts";

describe.each([
  ["one process", startStack],
  ["four processes", startProcesses],
])("a body that arrives after a revocation, in %s", (_, start) => {
  const fixture = useStack<Awaited<ReturnType<typeof startStack>>>(() => start());

  /** Starts five requests of an owner; half of each body is sent. */
  async function begin(eve: ApiUser, organization: string): Promise<HalfSent[]> {
    const workspace = await newWorkspace({ organization, owner: eve });
    const begun = [
      [
        "POST",
        `/organizations/${organization}/authentication-token`,
        document("authentication-tokens", {}),
      ],
      ["PATCH", `/workspaces/${workspace.id}`, document("workspaces", { description: "late" })],
      [
        "POST",
        `/organizations/${organization}/workspaces`,
        document("workspaces", { name: "late" }),
      ],
      ["POST", `/workspaces/${workspace.id}/actions/lock`, { reason: "late" }],
      ["POST", `/users/${eve.id}/authentication-tokens`, document("authentication-tokens", {})],
    ] as const;
    const requests = await Promise.all(
      begun.map(([method, path, body]) =>
        halfSent(method, `${fixture().url}/api/v2${path}`, Buffer.from(JSON.stringify(body)), {
          authorization: `Bearer ${eve.token}`,
          "content-type": "application/vnd.api+json",
        }),
      ),
    );
    // This request is sent after the five requests, so it is authenticated after them.
    await expectStatus(200, eve.api.get("/account/details"));
    return requests;
  }

  const finish = (requests: readonly HalfSent[]) =>
    Promise.all(
      requests.map(({ finish: end, answer }) => {
        end();
        return answer;
      }),
    );

  test("of the token changes nothing", async () => {
    const { stack } = fixture();
    const eve = await newUser(stack);
    const requests = await begin(eve, await newOrganization(eve.api));
    const { body } = await eve.api.get(`/users/${eve.id}/authentication-tokens`);
    const revoked = await eve.api.delete(`/authentication-tokens/${body.data[0].id}`);
    expect(revoked.status).toBe(204);
    expect(await finish(requests)).toEqual([401, 401, 401, 401, 401]);
  });

  test("of the membership changes nothing in the organization", async () => {
    const { stack } = fixture();
    const [eve, other] = await Promise.all([newUser(stack), newUser(stack)]);
    const organization = await newOrganization(eve.api);
    // Adds another owner, because the last owner cannot leave the organization.
    const teams = await expectStatus(200, eve.api.get(`/organizations/${organization}/teams`));
    await stack.people.addMember(teams.body.data[0].id, other);
    const requests = await begin(eve, organization);
    const path = `/organizations/${organization}/organization-memberships`;
    const { body } = await expectStatus(200, other.api.get(path));
    const own = body.data.find(
      ({ relationships }: { relationships: { user: { data: { id: string } } } }) =>
        relationships.user.data.id === eve.id,
    );
    await expectStatus(204, other.api.delete(`/organization-memberships/${own.id}`));
    // The last request creates a token of eve's own account, which she may still do.
    expect(await finish(requests)).toEqual([404, 404, 404, 404, 201]);
  });

  test("of the account changes nothing", async () => {
    const { stack } = fixture();
    const [eve, administrator] = await Promise.all([
      newUser(stack),
      newUser(stack, { administrator: true }),
    ]);
    const requests = await begin(eve, await newOrganization(eve.api));
    const suspended = await administrator.api.post(`/admin/users/${eve.id}/actions/suspend`);
    expect(suspended.status).toBe(200);
    expect(await finish(requests)).toEqual([401, 401, 401, 401, 401]);
  });
});
