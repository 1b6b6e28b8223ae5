import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { problems, useFixture } from "./fixture.ts";

const fixture = useFixture();
const path = () => `/organizations/${fixture().organization}/reserved-tag-keys`;
const input = (attributes: Record<string, unknown>) => document("reserved-tag-keys", attributes);

test("a key can be reserved, changed and deleted", async () => {
  proves("Tags/reserved tag keys");
  const { api } = fixture().owner;
  const key = unusedName("key");
  const created = await api.post(path(), input({ key }));
  expect(created.status).toBe(201);
  expect(created.body.data).toEqual({
    id: expect.stringMatching(/^rtk-[A-Za-z0-9]{16}$/),
    type: "reserved-tag-keys",
    attributes: {
      key,
      "disable-overrides": false,
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: expect.stringMatching(/\.\d{3}Z$/),
    },
  });
  const self = `/reserved-tag-keys/${created.body.data.id}`;
  const changed = await api.patch(self, input({ "disable-overrides": true }));
  expect(changed.status).toBe(200);
  expect(changed.body.data.attributes).toMatchObject({ key, "disable-overrides": true });
  const listed = await api.get(path());
  expect(listed.body.data).toContainEqual(changed.body.data);
  expect((await api.delete(self)).status).toBe(204);
  expect((await api.delete(self)).status).toBe(404);
});

test("the list is ordered by key and has pages", async () => {
  const { api } = fixture().owner;
  const list = `/organizations/${await newOrganization(api)}/reserved-tag-keys`;
  for (const key of ["c", "a", "b"]) await api.post(list, input({ key }));
  const keys = ({ body }: { body: { data: { attributes: { key: string } }[] } }) =>
    body.data.map(({ attributes }) => attributes.key);
  expect(keys(await api.get(list))).toEqual(["a", "b", "c"]);
  const page = await api.get(`${list}?page[size]=2&page[number]=2`);
  expect(keys(page)).toEqual(["c"]);
  expect(page.body.meta.pagination["total-count"]).toBe(3);
  expect((await api.get(`${list}?page[number]=no`)).status).toBe(400);
});

test("an invalid key and a taken key are refused", async () => {
  const { api } = fixture().owner;
  const key = unusedName("taken");
  const { body } = await api.post(path(), input({ key }));
  const again = await api.post(path(), input({ key }));
  expect(again.status).toBe(422);
  expect(problems(again)).toEqual({ "/data/attributes/key": "Key has already been taken" });
  const bad = await api.patch(`/reserved-tag-keys/${body.data.id}`, input({ key: "hc:a" }));
  expect(bad.status).toBe(422);
  expect(problems(bad)).toEqual({ "/data/attributes/key": "Key has a reserved prefix" });
});

test("members see reserved keys, owners change them, and a user without access sees none", async () => {
  const { owner, reader, outsider } = fixture();
  const { body } = await owner.api.post(path(), input({ key: unusedName("key") }));
  const self = `/reserved-tag-keys/${body.data.id}`;
  expect((await reader.api.get(path())).status).toBe(200);
  expect((await outsider.api.get(path())).status).toBe(404);
  for (const { api } of [reader, outsider]) {
    expect((await api.post(path(), input({ key: unusedName("no") }))).status).toBe(404);
    expect((await api.patch(self, input({}))).status).toBe(404);
    expect((await api.delete(self)).status).toBe(404);
  }
});
