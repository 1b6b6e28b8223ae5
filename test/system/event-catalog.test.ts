import { eventMessages, sampleEvent } from "@statehouse/events/catalog";
import { expect, test } from "vitest";
import { problemOf } from "../stack/event-check.ts";

const [first] = eventMessages;

/** Replaces parts of the sample of the catalog's first event, and compares the result with the catalog. */
function check(changed: { subject?: string; headers?: object; payload?: object }) {
  if (!first) throw new Error("the catalog is empty");
  const { subject, headers, payload } = sampleEvent(first);
  const texts = Object.entries({ ...headers, ...changed.headers }).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value]] : [],
  );
  return problemOf(
    changed.subject ?? subject,
    Object.fromEntries(texts),
    JSON.stringify({ ...payload, ...changed.payload }),
  );
}

// Each stack of the tests makes this comparison for every event that its services publish.
test("an event that differs from its catalog is reported", () => {
  expect(check({})).toBeUndefined();
  expect(check({ subject: "statehouse.access.user.created.v1" })).toContain("the subject must be");
  expect(check({ headers: { "ce-sequence": "7" } })).toContain("ce-sequence");
  expect(check({ headers: { "ce-authtype": undefined } })).toContain("ce-authtype");
  expect(check({ headers: { "ce-type": "statehouse.access.user.eaten.v1" } })).toContain("catalog");
  expect(check({ payload: { username: 7 } })).toContain("username");
  expect(check({ payload: { revision: undefined } })).toContain("revision");
  expect(check({ payload: { password: "x" } })).toContain("password");
});
