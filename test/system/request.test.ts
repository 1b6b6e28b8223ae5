import { routes } from "@statehouse/gateway/routes";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { errorDetails, newWorkspace, problems, useFixture } from "./fixture.ts";

const MAX_BODY_BYTES = 100_000;
const fixture = useFixture({ settings: { MAX_BODY_BYTES: String(MAX_BODY_BYTES) } });

const withBody = routes.filter(({ body }) => body);
const named = (list: typeof routes) =>
  list.map((route) => [`${route.method} ${route.path}`, route] as const);
const anywhere = (path: string) => path.replaceAll(/:[^/]+/g, "whatever");

test("an unknown path returns 404 in JSON", async () => {
  proves("JSON:API/never 501, unknown routes are JSON 404, wrong methods 405");
  const { url, owner, anonymous } = fixture();
  const paths = ["/", "/api", "/api/v2", "/api/v3/ping", "/api/v2/no-such-noun", "/favicon.ico"];
  for (const path of [
    ...paths,
    "/api/v2/workspaces/ws-1/runs",
    "/api/v2/%2e%2e/%2e%2e/etc/passwd",
  ]) {
    for (const api of [owner.api, anonymous]) {
      const answer = await api.get(url + path);
      expect(answer.status, path).toBe(404);
      expect(errorDetails(answer)).toHaveLength(1);
    }
  }
});

test("a wrong method returns 405 in JSON with the allowed methods", async () => {
  proves("JSON:API/never 501, unknown routes are JSON 404, wrong methods 405");
  const { owner, url } = fixture();
  const details = await owner.api.send("DELETE", "/account/details");
  expect(details.status).toBe(405);
  expect(details.headers.get("allow")).toBe("GET");
  expect(errorDetails(details)).toHaveLength(1);
  for (const method of ["PUT", "OPTIONS", "PATCH"]) {
    const answer = await owner.api.send(method, `${url}/api/v2/organizations`);
    expect(answer.status, method).toBe(405);
    errorDetails(answer);
  }
});

describe.each(named(withBody))("%s", (_, { method, path }) => {
  const send = (body: unknown) =>
    fixture().owner.api.send(method, fixture().url + anywhere(path), body);

  test("refuses invalid JSON with 400", async () => {
    proves("JSON:API/bodies");
    for (const broken of ['{"data":', "{'data': 1}", "data", '{"data":{}}}']) {
      const answer = await send(broken);
      expect(answer.status).toBe(400);
      expect(errorDetails(answer)).toHaveLength(1);
    }
  });

  test("refuses a body over the limit with 413 and continues", async () => {
    proves("JSON:API/bodies");
    const answer = await send(JSON.stringify({ filler: "x".repeat(MAX_BODY_BYTES) }));
    expect(answer.status).toBe(413);
    expect(errorDetails(answer)[0]).toContain(String(MAX_BODY_BYTES));
    expect((await fixture().owner.api.get("/account/details")).status).toBe(200);
  });

  test("refuses JSON that is not a document with 4xx and a text", async () => {
    for (const body of ["[]", "3", "null", '"text"', '{"data":[1]}', '{"data":"x"}', "{}"]) {
      const { status } = await send(body);
      expect(status, body).toBeGreaterThanOrEqual(200);
      expect(status, body).toBeLessThan(500);
    }
  });
});

test("a body over the limit, sent without Content-Length, returns 413", async () => {
  const { url, owner, organization } = fixture();
  const piece = new TextEncoder().encode("x".repeat(50_000));
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1;
      if (sent > 10) controller.close();
      else controller.enqueue(piece);
    },
  });
  const response = await fetch(`${url}/api/v2/organizations/${organization}/workspaces`, {
    method: "POST",
    headers: { authorization: `Bearer ${owner.token}` },
    body,
    duplex: "half",
  } as RequestInit);
  expect(response.status).toBe(413);
});

const types = ["things", "", 3, null, undefined];

test("a wrong type returns 422 with its pointer where the specification demands a type", async () => {
  proves(
    "Workspace/data.type",
    "Workspace endpoints/PATCH relationships/ssh-key",
    "Real clients/6",
  );
  const { owner, organization } = fixture();
  const { id } = await newWorkspace(fixture());
  for (const type of types) {
    for (const [method, path] of [
      ["POST", `/organizations/${organization}/workspaces`],
      ["PATCH", `/workspaces/${id}`],
      ["PATCH", `/workspaces/${id}/relationships/ssh-key`],
      ["POST", `/workspaces/${id}/state-versions`],
      ["PATCH", `/workspaces/${id}/state-versions`],
      ["POST", "/team-projects"],
    ] as const) {
      const data = { type, attributes: { name: "unused", id: null } };
      const answer = await owner.api.send(method, path, { data });
      expect(answer.status, path).toBe(422);
      expect(Object.keys(problems(answer)), path).toContain("/data/type");
    }
  }
});

test("elsewhere the type may be missing or another", async () => {
  proves("Real clients/6");
  const { owner, organization } = fixture();
  const ofOrganization = `/organizations/${organization}`;
  const changed: [string, string][] = [];
  for (const type of types) {
    for (const noun of ["teams", "projects", "ssh-keys", "agent-pools", "reserved-tag-keys"]) {
      const name = unusedName("untyped");
      const data = { type, attributes: { name, key: name, value: "secret" } };
      const answer = await owner.api.post(`${ofOrganization}/${noun}`, { data });
      expect(answer.status, noun).toBe(201);
      changed.push([noun, answer.body.data.id]);
    }
    const token = await owner.api.post(`/users/${owner.id}/authentication-tokens`, {
      data: { type, attributes: {} },
    });
    expect(token.status).toBe(201);
    const email = `${unusedName("member")}@example.org`;
    const invited = await owner.api.post(`${ofOrganization}/organization-memberships`, {
      data: { type, attributes: { email } },
    });
    expect(invited.status).toBe(201);
    for (const path of [ofOrganization, "/account/update"]) {
      const data = { type, attributes: {} };
      expect((await owner.api.patch(path, { data })).status, path).toBe(200);
    }
    const made = await owner.api.post("/organizations", {
      data: { type, attributes: { name: unusedName("untyped"), email } },
    });
    expect(made.status).toBe(201);
  }
  for (const [noun, id] of changed) {
    const answer = await owner.api.patch(`/${noun}/${id}`, { data: { attributes: {} } });
    expect(answer.status, noun).toBe(200);
  }
});

const including = routes.filter(({ method, includes }) => method === "GET" && includes.length > 0);

test.each(named(including))(
  "%s refuses an unknown include with 400 and names it",
  async (_, { path }) => {
    proves("JSON:API/included");
    const { url, owner } = fixture();
    for (const include of ["nonsense", "outputs,nonsense", "organization.project", "__proto__"]) {
      const answer = await owner.api.get(`${url}${anywhere(path)}?include=${include}`);
      expect(answer.status).toBe(400);
      expect(errorDetails(answer)[0]).toContain("include parameter");
    }
  },
);

describe("a page", () => {
  const lists = () => {
    const { organization, owner } = fixture();
    return [
      "/organizations",
      `/organizations/${organization}/projects`,
      `/organizations/${organization}/workspaces`,
      `/users/${owner.id}/authentication-tokens`,
    ];
  };

  test("number 0 means 1", async () => {
    proves("Real clients/5");
    for (const path of lists()) {
      const { api } = fixture().owner;
      const answer = await api.get(`${path}?page[number]=0&page[size]=1`);
      expect(answer.status, path).toBe(200);
      expect(answer.body.data).toEqual((await api.get(`${path}?page[size]=1`)).body.data);
      expect(answer.body.meta.pagination["current-page"]).toBe(1);
    }
  });

  test("a size of 0, and a size or number below 0 or not a number, return 400", async () => {
    proves("JSON:API/pagination");
    for (const path of lists()) {
      for (const value of ["0", "-1", "x", "1.5", "1e3", "%20", "NaN"]) {
        for (const parameter of ["page[size]", "page[number]"]) {
          if (parameter === "page[number]" && value === "0") continue;
          const answer = await fixture().owner.api.get(`${path}?${parameter}=${value}`);
          expect(answer.status, `${path} ${parameter}=${value}`).toBe(400);
          expect(errorDetails(answer)[0]).toContain(parameter);
        }
      }
    }
  });

  test("size above 100 means 100, and a number past the end returns an empty page", async () => {
    proves("JSON:API/pagination");
    for (const path of lists()) {
      const large = await fixture().owner.api.get(`${path}?page%5Bsize%5D=1000000000`);
      expect(large.status).toBe(200);
      expect(large.body.meta.pagination["page-size"]).toBe(100);
      const total = large.body.meta.pagination["total-count"];
      const beyond = await fixture().owner.api.get(`${path}?page%5Bnumber%5D=1000000000`);
      expect(beyond.status).toBe(200);
      expect(beyond.body.data).toEqual([]);
      expect(beyond.body.meta.pagination).toMatchObject({
        "total-count": total,
        "next-page": null,
      });
    }
  });
});

test("unknown query parameters are ignored", async () => {
  proves("JSON:API/unknown query parameters are ignored");
  const { owner, organization } = fixture();
  const workspace = await newWorkspace(fixture());
  const junk = "TagBindings=&page%5Bnonsense%5D=1&filter%5Bnonsense%5D%5B0%5D=a&fields=name&&=&%5B";
  for (const path of [
    "/organizations",
    `/organizations/${organization}`,
    `/organizations/${organization}/workspaces`,
    `/organizations/${organization}/projects`,
    `/workspaces/${workspace.id}`,
    "/account/details",
  ]) {
    expect((await owner.api.get(`${path}?${junk}`)).status, path).toBe(200);
  }
});

const strangeNames = [
  ["spaces", "a name with spaces"],
  ["slashes", "a/b/../c"],
  ["unicode", "Zoë-✓-名前"],
  ["10,000 characters", "x".repeat(10_000)],
  ["markup", "<script>alert(1)</script>"],
  ["quotes", `a'b"c;--`],
  ["percent signs", "%2e%2e%2f"],
  ["a line break", "a\nb"],
  ["nothing", ""],
  ["a NUL", "a\0b"],
  ["half a character", "a\ud800b"],
] as const;

describe.each(strangeNames)("a name with %s", (_, name) => {
  test("is refused with a text when it is created", async () => {
    const { owner, organization } = fixture();
    const workspace = await newWorkspace(fixture());
    const answers = [
      await owner.api.post(
        "/organizations",
        document("organizations", { name, email: "a@b.example" }),
      ),
      await owner.api.post(
        `/organizations/${organization}/workspaces`,
        document("workspaces", { name }),
      ),
      await owner.api.patch(`/workspaces/${workspace.id}`, document("workspaces", { name })),
    ];
    // Skips names of letters and spaces, because they are valid names of projects.
    if (!/^[a-z ]+$/.test(name)) {
      const path = `/organizations/${organization}/projects`;
      answers.push(await owner.api.post(path, document("projects", { name })));
    }
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(answer.body.errors[0].title).toBe("invalid attribute");
      errorDetails(answer);
    }
  });

  test("is not found when it is read", async () => {
    const { owner, organization } = fixture();
    const encoded = encodeURIComponent(name.toWellFormed());
    for (const path of [
      `/organizations/${encoded}/entitlement-set`,
      `/organizations/${encoded}/workspaces`,
      `/organizations/${organization}/workspaces/${encoded}/actions/safe-delete`,
      `/workspaces/${encoded}/current-state-version`,
      `/state-version-outputs/x${encoded}`,
    ]) {
      const method = path.endsWith("safe-delete") ? "POST" : "GET";
      const { status } = await owner.api.send(method, path);
      expect([400, 404], path.slice(0, 80)).toContain(status);
    }
  });

  test("matches nothing in a search", async () => {
    const { owner, organization } = fixture();
    if (name === "" || name.includes("\0")) return;
    const encoded = encodeURIComponent(name.toWellFormed());
    const paths = [
      "workspaces?search[name]",
      "workspaces?search[tags]",
      "projects?q",
      "projects?filter[names]",
    ];
    for (const path of paths) {
      const answer = await owner.api.get(`/organizations/${organization}/${path}=${encoded}`);
      expect(answer.status, path).toBe(200);
      expect(answer.body.data).toEqual([]);
    }
  });
});

test("every response contains the request id of the logs", async () => {
  const { owner, anonymous } = fixture();
  for (const [answer, stored] of [
    [await owner.api.get("/account/details"), "private, no-cache"],
    [await anonymous.get("/organizations"), "no-store"],
  ] as const) {
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(answer.headers.get("cache-control")).toBe(stored);
  }
});

test("an invalid path returns JSON and never 5xx", async () => {
  const { url, owner } = fixture();
  for (const path of [
    "/api/v2/workspaces/%zz",
    "/api/v2/workspaces/%E0%A4%A",
    "/api/v2/organizations/%00/workspaces",
    "//api/v2/ping",
    `/api/v2/workspaces/${"x".repeat(5000)}`,
    "/v1/object/%zz",
    `/v1/object/${"x".repeat(5000)}`,
  ]) {
    const answer = await owner.api.get(url + path);
    expect([400, 404, 405], path.slice(0, 40)).toContain(answer.status);
    errorDetails(answer);
  }
});

test("a deeply nested body is refused", async () => {
  proves("JSON:API/bodies");
  const { owner, organization } = fixture();
  const deep = (inside: string) => "[".repeat(40_000) + inside + "]".repeat(40_000);
  for (const body of [
    deep('"\\u0000"'),
    `{"data":${deep("1")}}`,
    `{"data":{"type":"workspaces","attributes":{"name":"x","trigger-patterns":${deep("1")}}}}`,
  ]) {
    const answer = await owner.api.post(`/organizations/${organization}/workspaces`, body);
    expect([400, 422]).toContain(answer.status);
    errorDetails(answer);
  }
});
