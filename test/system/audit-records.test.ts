import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { type Answer, document, download } from "../stack/http.ts";
import { organizationId } from "../stack/organization.ts";
import type { DatabaseName } from "../stack/stack.ts";
import { expectStatus, processedVersion, stateFile, writeState } from "../stack/state.ts";
import { newUser, newWorkspace, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture({ settings: { TRUSTED_PROXIES: "127.0.0.1" } });

interface Found {
  organization: string;
  actor_type: string;
  actor_id: string;
  token_id: string | null;
  address: string | null;
  action: string;
  resource_type: string;
  resource_id: string | null;
  changed_attributes: string[];
  outcome: string;
  code: string | null;
}

/** Returns the records of the request that `answer` responds to. */
const recordsOf = (service: DatabaseName, answer: Answer) =>
  fixture().stack.rows<Found>(
    service,
    "select * from audit_records where request_id = $1 order by recorded_at, id",
    [answer.headers.get("x-request-id")],
  );

/** Selects refused attempts, before and after the sealer has moved them to the records. */
const attempts = ["audit_attempts", "audit_records where outcome = 'refused'"]
  .map(
    (from) =>
      `select organization, actor_type, actor_id, address, action, code, attempts, resource_id from ${from}`,
  )
  .join(" union all ");

const attemptsOf = (service: DatabaseName, actor: string, action: string) =>
  fixture().stack.rows<{ organization: string; code: string; attempts: number; address: string }>(
    service,
    `select organization, code, address, sum(attempts)::int as attempts from (${attempts}) a
     where actor_id = $1 and action = $2 group by 1, 2, 3 order by 1, 2`,
    [actor, action],
  );

const from = (address: string) => ({ "x-forwarded-for": address });

test("a change is recorded with actor, address, request and changed attributes", async () => {
  const { owner, stack, organization } = fixture();
  const { id } = await newWorkspace(fixture());
  const body = document("workspaces", { description: "another", "auto-apply": true });
  const answer = await owner.api.send("PATCH", `/workspaces/${id}`, body, from("192.0.2.44"));
  expect(answer.status).toBe(200);
  const [record, ...more] = await recordsOf("workspaces", answer);
  expect(more).toEqual([]);
  expect(record).toMatchObject({
    organization: await organizationId(stack, organization),
    actor_type: "user",
    actor_id: owner.id,
    token_id: expect.stringMatching(/^at-/),
    address: "192.0.2.44",
    action: "workspace.update",
    resource_type: "workspace",
    resource_id: id,
    changed_attributes: ["auto-apply", "description"],
    outcome: "succeeded",
    code: null,
  });
});

test("refused attempts are counted in the service that refuses, hidden ones too", async () => {
  const { reader, outsider, stack, organization, readable } = fixture();
  const { id } = await newWorkspace(fixture(), {}, readable.id);
  const inside = await organizationId(stack, organization);
  for (let times = 0; times < 3; times++) {
    const path = `/workspaces/${id}/actions/lock`;
    await expectStatus(404, reader.api.send("POST", path, {}, from("192.0.2.1")));
  }
  await expect
    .poll(() => attemptsOf("workspaces", reader.id, "workspace-lock.lock-workspace"))
    .toEqual([{ organization: inside, code: "not_allowed", address: "192.0.2.1", attempts: 3 }]);
  await expectStatus(404, outsider.api.get(`/workspaces/${id}`));
  await expectStatus(404, outsider.api.get("/workspaces/ws-unknown"));
  await expect
    .poll(() => attemptsOf("workspaces", outsider.id, "workspace.get-workspace"))
    .toMatchObject([{ organization: inside, code: "not_found", attempts: 1 }]);
});

test("refusals by the gateway, and requests with invalid tokens, are counted by access", async () => {
  const { owner, organization, stack, url } = fixture();
  const inside = await organizationId(stack, organization);
  const path = `/organizations/${organization}/authentication-token`;
  const made = await expectStatus(201, owner.api.post(path, document("authentication-tokens", {})));
  const api = recordedApi(url, made.body.data.attributes.token);
  await expectStatus(404, api.get("/admin/users"));
  await expect
    .poll(() =>
      stack.rows(
        "access",
        `select resource_id, code, attempts from (${attempts}) a where actor_id = $1`,
        [inside],
      ),
    )
    .toEqual([
      { resource_id: "GET /api/v2/admin/users", code: "credential_not_allowed", attempts: 1 },
    ]);

  const address = "198.51.100.77";
  const unknown = ["sth_unknown", "malformed", made.body.data.attributes.token.slice(0, -1)];
  await Promise.all(
    unknown.map((token) =>
      expectStatus(
        401,
        recordedApi(url, token).send("GET", "/workspaces/ws-1", undefined, from(address)),
      ),
    ),
  );
  await expect
    .poll(() =>
      stack.rows(
        "access",
        `select organization, actor_type, actor_id, sum(attempts)::int as attempts from (${attempts}) a
         where address = $1 group by 1, 2, 3`,
        [address],
      ),
    )
    .toEqual([{ organization: "_", actor_type: "unknown", actor_id: "", attempts: 3 }]);
});

test("downloads and values of outputs are recorded, metadata is not", async () => {
  const { owner, stack } = fixture();
  const workspace = await newWorkspace(fixture());
  const outputs = {
    shown: { value: "a", type: "string" },
    hidden: { value: "b", type: "string", sensitive: true },
  };
  const { body } = await writeState(owner.api, workspace.id, stateFile({ outputs }));
  const { id } = body.data;
  await processedVersion(owner.api, id);

  for (const path of [`/state-versions/${id}`, `/workspaces/${workspace.id}`]) {
    expect(await recordsOf("state", await expectStatus(200, owner.api.get(path)))).toEqual([]);
  }
  const read = { action: "state-version-output.read", resource_id: id, actor_id: owner.id };
  const listed = await expectStatus(200, owner.api.get(`/state-versions/${id}/outputs`));
  expect(await recordsOf("state", listed)).toMatchObject([read]);
  for (const path of [
    `/workspaces/${workspace.id}/current-state-version-outputs`,
    `/state-version-outputs/${listed.body.data[0].id}`,
    `/state-versions/${id}?include=outputs`,
    `/workspaces/${workspace.id}?include=outputs`,
  ]) {
    const answer = await expectStatus(200, owner.api.get(path));
    expect(await recordsOf("state", answer), path).toMatchObject([read]);
  }
  const url = body.data.attributes["hosted-state-download-url"];
  expect((await download(url, owner.token)).status).toBe(200);
  const downloads = await stack.rows(
    "state",
    "select actor_id from audit_records where action = 'state-version.download' and resource_id = $1",
    [id],
  );
  expect(downloads).toEqual([{ actor_id: owner.id }]);
});

test("no record contains a token, an invitation's secret or a value of a state", async () => {
  const { owner, stack, organization, url } = fixture();
  const path = `/organizations/${organization}/authentication-token`;
  const made = await expectStatus(201, owner.api.post(path, document("authentication-tokens", {})));
  const { token } = made.body.data.attributes;
  await recordedApi(url, `${token}x`).get("/account/details");
  const secrets = [owner.token, token];
  const hashes = await stack.rows<{ hash: string }>("access", "select hash from tokens");
  for (const service of ["access", "workspaces", "state"] as const) {
    const rows = await waitFor(() =>
      stack.rows<{ text: string }>(
        service,
        `select (r.*)::text as text from audit_records r union all
         select (a.*)::text from audit_attempts a`,
      ),
    );
    const text = rows.map((row) => row.text).join("\n");
    for (const secret of [...secrets, ...hashes.map(({ hash }) => hash)]) {
      expect(text.includes(secret), service).toBe(false);
    }
  }
});

test("the deletion of a user removes the user's addresses, and keeps their digests", async () => {
  const { stack, organization } = fixture();
  const administrator = await newUser(stack, { administrator: true });
  const leaver = await newUser(stack);
  const path = `/organizations/${organization}`;
  await expectStatus(404, leaver.api.send("GET", path, undefined, from("203.0.113.9")));
  const named = { username: `renamed-${leaver.id.slice(-6).toLowerCase()}` };
  const renamed = document("users", named);
  await expectStatus(
    200,
    leaver.api.send("PATCH", "/account/update", renamed, from("203.0.113.9")),
  );
  await expectStatus(204, administrator.api.delete(`/admin/users/${leaver.id}`));
  const records = (service: DatabaseName) =>
    stack.rows<{ outcome: string; address: string | null; digest: Buffer | null }>(
      service,
      `select outcome, address, address_digest as digest from audit_records
       where actor_id = $1 and action <> 'user.create'`,
      [leaver.id],
    );
  for (const [service, outcome] of [
    ["workspaces", "refused"],
    ["access", "succeeded"],
  ] as const) {
    const [record] = await waitFor(
      async () => {
        const found = await records(service);
        return found.length > 0 && found.every(({ address }) => address === null) && found;
      },
      { what: `records of ${service} without addresses` },
    );
    expect(record).toMatchObject({ outcome, digest: expect.any(Buffer) });
  }
});

test("members that are added to a team and removed from it are recorded", async () => {
  const { owner, reader, readersTeamId, organization } = fixture();
  const memberships = await expectStatus(
    200,
    owner.api.get(`/organizations/${organization}/organization-memberships?page[size]=100`),
  );
  const membership = memberships.body.data.find(
    (one: { relationships: { user: { data: { id: string } } } }) =>
      one.relationships.user.data.id === reader.id,
  );
  for (const [relation, data] of [
    ["users", { type: "users", id: reader.username }],
    ["organization-memberships", { type: "organization-memberships", id: membership.id }],
  ] as const) {
    for (const [method, action] of [
      ["DELETE", "team-member.remove"],
      ["POST", "team-member.add"],
    ] as const) {
      const path = `/teams/${readersTeamId}/relationships/${relation}`;
      const answer = await expectStatus(204, owner.api.send(method, path, { data: [data] }));
      expect(await recordsOf("access", answer), `${method} ${relation}`).toMatchObject([
        { action },
      ]);
    }
  }
});
