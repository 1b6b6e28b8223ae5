import { routes } from "@statehouse/gateway/routes";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { errorDetails, newUser, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();

const guarded = routes.filter(({ credentials }) => credentials !== "none");
const anywhere = (path: string) => path.replaceAll(/:[^/]+/g, "whatever");

describe.each(guarded.map(({ method, path }) => [method, path] as const))(
  "%s %s",
  (method, path) => {
    test("without a valid token returns 401 for every path", async () => {
      proves("Credentials/missing or bad token");
      const { url, anonymous } = fixture();
      const target = url + anywhere(path);
      const unknown = recordedApi(url, `sth_${"x".repeat(43)}`);
      for (const api of [anonymous, unknown]) {
        const answer = await api.send(method, target);
        expect(answer.status).toBe(401);
        expect(errorDetails(answer)).toHaveLength(1);
      }
    });
  },
);

test("a token is accepted only in the form that clients send", async () => {
  proves("Credentials/Authorization");
  const { url, owner, anonymous } = fixture();
  const path = `${url}/api/v2/account/details`;
  const headers = [
    owner.token,
    "Bearer",
    "Bearer ",
    `Basic ${owner.token}`,
    `Bearer ${owner.token} ${owner.token}`,
    `Bearer ${owner.token.slice(0, -1)}`,
    `Bearer ${owner.token}x`,
    `Bearer ${owner.token.toUpperCase()}`,
    `Bearer ${"a".repeat(8000)}`,
    "Bearer '; drop table user_tokens --",
  ];
  for (const authorization of headers) {
    const { status } = await anonymous.send("GET", path, undefined, { authorization });
    expect(status, authorization.slice(0, 40)).toBe(401);
  }
  const known = await anonymous.send("GET", path, undefined, {
    authorization: `bearer ${owner.token}`,
  });
  expect(known.status).toBe(200);
  const inQuery = await anonymous.get(`/account/details?token=${owner.token}`);
  expect(inQuery.status).toBe(401);
});

test("only the revoked token fails on the next request", async () => {
  proves("Credentials/expired, revoked, of a suspended user");
  const person = await newUser(fixture().stack);
  const tokens = `/users/${person.id}/authentication-tokens`;
  const made = await person.api.post(tokens, document("authentication-tokens", {}));
  const other = recordedApi(fixture().url, made.body.data.attributes.token);
  expect((await other.get("/account/details")).status).toBe(200);
  const revoked = await person.api.delete(`/authentication-tokens/${made.body.data.id}`);
  expect(revoked.status).toBe(204);
  expect((await other.get("/account/details")).status).toBe(401);
  expect((await person.api.get("/account/details")).status).toBe(200);
});

test("an expired token fails", async () => {
  proves("Credentials/expired, revoked, of a suspended user");
  const person = await newUser(fixture().stack);
  const made = await person.api.post(
    `/users/${person.id}/authentication-tokens`,
    document("authentication-tokens", {}),
  );
  const short = recordedApi(fixture().url, made.body.data.attributes.token);
  expect((await short.get("/account/details")).status).toBe(200);
  await fixture().stack.rows(
    "access",
    "update tokens set expired_at = now() - interval '1 second' where id = $1",
    [made.body.data.id],
  );
  expect((await short.get("/account/details")).status).toBe(401);
});
