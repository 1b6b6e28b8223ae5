import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import type { RawAnswer } from "../stack/raw-http.ts";
import { announcement, stateFile } from "../stack/state.ts";
import { newLockedWorkspace } from "./fixture.ts";
import { bearer, useOutsider } from "./outsider.ts";

// A caller can send any header. A header must not allow more than the caller's token does.

const { fixture, mine, foreign, ask, asOutsider } = useOutsider();

const plain = ({ status, body }: RawAnswer) => `${status} ${body}`;

/** Returns headers with which proxies and frameworks change the identity or the target of a request. */
const headers = (): Record<string, string> => {
  const { owner, url, organization } = fixture();
  const path = `/api/v2/workspaces/${foreign().id}`;
  return {
    "X-Original-URL": path,
    "X-Rewrite-URL": path,
    "X-Forwarded-Prefix": `/api/v2/organizations/${organization}`,
    "X-Forwarded-For": "127.0.0.1",
    "X-Real-IP": "127.0.0.1",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    Forwarded: "for=127.0.0.1;host=evil.example;proto=https",
    Host: "evil.example",
    "X-User-Id": owner.id,
    "X-Remote-User": owner.username,
    "X-Forwarded-User": owner.username,
    "X-Organization": organization,
    "Proxy-Authorization": `Bearer ${owner.token}`,
    "X-Authorization": `Bearer ${owner.token}`,
    "X-Auth-Token": owner.token,
    "X-Access-Token": owner.token,
    Cookie: `token=${owner.token}; authorization=Bearer ${owner.token}`,
    "statehouse-assertion": "service operator",
    "X-HTTP-Method-Override": "DELETE",
    "X-HTTP-Method": "DELETE",
    "X-Method-Override": "DELETE",
    Referer: `${url}${path}`,
    Origin: url,
    traceparent: "00-00000000000000000000000000000001-0000000000000001-01",
    "If-None-Match": '"of another body"',
    Range: "bytes=0-10",
    Accept: "text/html",
    "Content-Type": "application/x-www-form-urlencoded",
    Upgrade: "websocket",
    "X-Admin": "true",
  };
};

const headerNames = [
  "X-Original-URL X-Rewrite-URL X-Forwarded-Prefix X-Forwarded-For X-Real-IP X-Forwarded-Host",
  "X-Forwarded-Proto Forwarded Host X-User-Id X-Remote-User X-Forwarded-User X-Organization",
  "Proxy-Authorization X-Authorization X-Auth-Token X-Access-Token Cookie statehouse-assertion",
  "X-HTTP-Method-Override X-HTTP-Method X-Method-Override Referer Origin traceparent",
  "If-None-Match Range Accept Content-Type Upgrade X-Admin",
].flatMap((line) => line.split(" "));

describe("a request header", () => {
  test.each(headerNames)("%s does not change the response", async (name) => {
    proves("Isolation/headers");
    const { outsider, reader } = fixture();
    const value = headers()[name];
    if (value === undefined) throw new Error(`no value for ${name}`);
    const spoofed = [`${name}: ${value}`];
    const shown = `GET /api/v2/workspaces/${mine().id}`;
    const hidden = `GET /api/v2/workspaces/${foreign().id}`;
    const administrative = "GET /api/v2/admin/users";
    for (const line of [shown, hidden, administrative, "GET /api/v2/account/details"]) {
      const without = await asOutsider(line);
      expect(plain(await asOutsider(line, spoofed)), line).toBe(plain(without));
    }
    const unknown = await ask(hidden, spoofed);
    expect(unknown.status).toBe(401);
    const lock = `POST /api/v2/workspaces/${foreign().id}/actions/lock`;
    expect((await ask(lock, [bearer(reader.token), ...spoofed])).status).toBe(404);
    expect((await outsider.api.get(`/workspaces/${mine().id}`)).status).toBe(200);
  });
});

describe("a token", () => {
  test("is accepted in the header Authorization only", async () => {
    proves("Credentials/Authorization");
    const { token } = fixture().owner;
    const path = `/api/v2/workspaces/${foreign().id}`;
    const body = JSON.stringify({ token, access_token: token, authorization: `Bearer ${token}` });
    const json = ["Content-Type: application/vnd.api+json"];
    for (const [line, headers, text] of [
      [`GET ${path}?access_token=${token}`, [], ""],
      [`GET ${path}?authorization=Bearer%20${token}`, [], ""],
      [`GET ${path};access_token=${token}`, [], ""],
      [`POST ${path}/actions/lock`, json, body],
    ] as const) {
      expect((await ask(line, headers, text)).status, line).toBe(401);
    }
  });

  test("is taken from the first of two headers; a valid one after an invalid one is ignored", async () => {
    const { owner, outsider } = fixture();
    const line = `GET /api/v2/workspaces/${foreign().id}`;
    const unknown = `Authorization: Bearer sth_${"x".repeat(43)}`;
    const answers = {
      both: await ask(line, [bearer(outsider.token), bearer(owner.token)]),
      bad: await ask(line, [unknown, bearer(owner.token)]),
      empty: await ask(line, ["Authorization:", bearer(owner.token)]),
      basic: await ask(line, ["Authorization: Basic eDp5", bearer(owner.token)]),
      joined: await ask(line, [`${unknown}, Bearer ${owner.token}`]),
      folded: await ask(line, [`Authorization: Bearer\r\n ${owner.token}`]),
    };
    const statuses = Object.entries(answers).map(([name, { status }]) => [name, status]);
    expect(Object.fromEntries(statuses)).toEqual({
      both: 404,
      bad: 401,
      empty: 401,
      basic: 401,
      joined: 401,
      folded: 400,
    });
  });

  test("is accepted under any case of the header name and with its exact value only", async () => {
    const { owner } = fixture();
    const line = "GET /api/v2/account/details";
    for (const name of ["authorization", "AUTHORIZATION", "aUTHORIZATION"]) {
      expect((await ask(line, [`${name}: Bearer ${owner.token}`])).status).toBe(200);
    }
    for (const name of ["Authorization ", "X Authorization", "Authorization\t"]) {
      const { status } = await ask(line, [`${name}: Bearer ${owner.token}`]);
      expect([400, 401], name).toContain(status);
    }
    for (const token of [owner.token.toLowerCase(), `${owner.token}%00`, `${owner.token}\u00a0`]) {
      expect((await ask(line, [`Authorization: Bearer ${token}`])).status).toBe(401);
    }
  });
});

test("URLs in documents have the installation's own host, regardless of the request", async () => {
  proves("Isolation/headers");
  const { owner, url, organization } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const body = JSON.stringify(announcement(stateFile()));
  const headers = [
    bearer(owner.token),
    "Host: evil.example",
    "X-Forwarded-Host: evil.example",
    "X-Forwarded-Proto: https",
    "Forwarded: host=evil.example;proto=https",
  ];
  const created = await ask(`POST /api/v2/workspaces/${id}/state-versions`, headers, body);
  expect(created.status).toBe(201);
  const listed = await ask(`GET /api/v2/organizations/${organization}/workspaces`, headers);
  const feed = await ask("GET /changelog.atom", headers);
  for (const answer of [created, listed, feed]) {
    expect(answer.body).not.toContain("evil.example");
    expect(answer.body).toContain(url);
  }
});

test("members of a body do not change the caller", async () => {
  const { outsider, owner, organization } = fixture();
  const name = unusedName("workspace");
  const made = await outsider.api.post(
    `/organizations/${outsider.organization}/workspaces`,
    document(
      "workspaces",
      { name, "organization-name": organization, organization, "created-by": owner.id },
      {
        organization: { data: { type: "organizations", id: organization } },
        "locked-by": { data: { type: "users", id: owner.id } },
      },
    ),
  );
  expect(made.status).toBe(201);
  expect(made.body.data.relationships.organization.data.id).toBe(outsider.organization);
  expect((await owner.api.get(`/organizations/${organization}/workspaces/${name}`)).status).toBe(
    404,
  );
});
