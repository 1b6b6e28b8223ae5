import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newUser, problems, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();

const withTokens = async () => {
  const person = await newUser(fixture().stack);
  return { person, path: `/users/${person.id}/authentication-tokens` };
};

test("only the response that creates a token contains its secret", async () => {
  proves(
    "Credentials/user token",
    "Teams and users/tokens: shown once, kept",
    "Teams and users/tokens: expire after two",
  );
  const { person, path } = await withTokens();
  const made = await person.api.post(
    path,
    document("authentication-tokens", { description: "laptop" }),
  );
  expect(made.status).toBe(201);
  const { id, type, attributes, relationships } = made.body.data;
  const secret: string = attributes.token;
  expect(type).toBe("authentication-tokens");
  expect(id).toMatch(/^at-[A-Za-z0-9]{16}$/);
  expect(secret).toMatch(/^sth_[A-Za-z0-9_-]{43}$/);
  expect(attributes.description).toBe("laptop");
  expect(relationships["created-by"].data).toEqual({ id: person.id, type: "users" });
  const years = new Date(attributes["expired-at"]).getFullYear() - new Date().getFullYear();
  expect(years).toBe(2);

  const works = await recordedApi(fixture().url, secret).get("/account/details");
  expect(works.body.data.id).toBe(person.id);
  const shown = await person.api.get(`/authentication-tokens/${id}`);
  expect(shown.status).toBe(200);
  expect(shown.body.data.attributes.token).toBeNull();
  const listed = await person.api.get(path);
  expect(listed.status).toBe(200);
  expect(JSON.stringify([shown.body, listed.body])).not.toContain(secret);
  expect(listed.body.data.map((token: { id: string }) => token.id)).toContain(id);
  expect(listed.body.meta.pagination["total-count"]).toBe(2);
});

test("the CLI's empty type creates a token, and a given expiry is stored", async () => {
  const { person, path } = await withTokens();
  const expiry = "2031-02-03T04:05:06.000Z";
  const made = await person.api.post(path, document("", { "expired-at": expiry }));
  expect(made.status).toBe(201);
  expect(made.body.data.attributes["expired-at"]).toBe(expiry);
});

test("all problems of a token are reported", async () => {
  const { person, path } = await withTokens();
  const wrong = await person.api.post(
    path,
    document("authentication-tokens", {
      description: "x".repeat(10_000),
      "expired-at": "2001-01-01T00:00:00Z",
    }),
  );
  expect(wrong.status).toBe(422);
  expect(Object.keys(problems(wrong)).toSorted()).toEqual([
    "/data/attributes/description",
    "/data/attributes/expired-at",
  ]);
  const noDate = await person.api.post(path, document("", { "expired-at": "tomorrow" }));
  expect(noDate.status).toBe(422);
});

test("tokens are listed in pages", async () => {
  const { person, path } = await withTokens();
  for (let made = 0; made < 4; made++) await person.api.post(path, document("", {}));
  const second = await person.api.get(`${path}?page[size]=2&page[number]=2`);
  expect(second.body.data).toHaveLength(2);
  expect(second.body.meta.pagination).toMatchObject({ "total-count": 5, "total-pages": 3 });
  expect((await person.api.get(`${path}?page[size]=0`)).status).toBe(400);
});

test("the last use of a token is shown soon after it", async () => {
  proves("Teams and users/tokens: last-used-at");
  const { person, path } = await withTokens();
  await expect
    .poll(async () => (await person.api.get(path)).body.data[0].attributes["last-used-at"], {
      timeout: 15_000,
      interval: 250,
    })
    .toMatch(/Z$/);
});

test("a revoked token does not exist, and revoking it again returns not found", async () => {
  const { person, path } = await withTokens();
  const made = await person.api.post(path, document("authentication-tokens", {}));
  const one = `/authentication-tokens/${made.body.data.id}`;
  expect((await person.api.delete(one)).status).toBe(204);
  expect((await person.api.get(one)).status).toBe(404);
  expect((await person.api.delete(one)).status).toBe(404);
  expect((await person.api.get(path)).body.data).toHaveLength(1);
});

test("users cannot see, create or revoke tokens of other users", async () => {
  proves("Teams and users/tokens: nobody's but one's");
  const { person, path } = await withTokens();
  const { owner } = fixture();
  const made = await person.api.post(path, document("authentication-tokens", {}));
  const one = `/authentication-tokens/${made.body.data.id}`;
  expect((await owner.api.get(path)).status).toBe(404);
  expect((await owner.api.post(path, document("authentication-tokens", {}))).status).toBe(404);
  expect((await owner.api.get(one)).status).toBe(404);
  expect((await owner.api.delete(one)).status).toBe(404);
  expect((await person.api.get(one)).status).toBe(200);
});
