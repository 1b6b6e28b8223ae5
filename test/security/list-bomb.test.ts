import { expect, test } from "vitest";
import { newUser, useFixture } from "../system/fixture.ts";

const fixture = useFixture();

const unknownWorkspace = "/workspaces/ws-AAAAAAAAAAAAAAAA/relationships";
const zeros = (count: number) => ({ data: Array(count).fill(0) });

/** Creates a user without permissions. */
const attacker = async () => (await newUser(fixture().stack)).api;

test("a list of a million wrong items is refused without a check of each", async () => {
  const api = await attacker();
  const answer = await api.post(`${unknownWorkspace}/tags`, zeros(1_000_000));
  expect(answer.status).toBe(413);
  expect(answer.body.errors).toHaveLength(1);
});

test("a list of wrong items below the limit of the body has one problem", async () => {
  const api = await attacker();
  const answer = await api.post(`${unknownWorkspace}/tags`, zeros(400_000));
  expect(answer.status).toBe(422);
  expect(answer.body.errors).toMatchObject([
    { detail: "Data may have at most 1000 items", source: { pointer: "/data" } },
  ]);
});

test.each([
  ["tags", 1000],
  ["remote-state-consumers", 5000],
])("at most 20 problems of a list of %s are reported", async (relationship, count) => {
  const api = await attacker();
  const answer = await api.post(`${unknownWorkspace}/${relationship}`, zeros(count));
  expect(answer.status).toBe(422);
  expect(answer.body.errors).toHaveLength(20);
});

test("a map of 50,000 wrong members has one problem", async () => {
  const members = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`m${n}`, 0]));
  const { body } = await fixture().owner.api.get(`/organizations/${fixture().organization}/teams`);
  const answer = await fixture().owner.api.patch(`/teams/${body.data[0].id}`, {
    data: { type: "teams", attributes: { "organization-access": members } },
  });
  expect(answer.status).toBe(422);
  expect(answer.body.errors).toHaveLength(1);
});
