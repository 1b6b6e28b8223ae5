import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deadLetterFiles } from "./dead-letter-files.ts";
import type { Event } from "./event.ts";
import type { EventHandlers } from "./subscribe.ts";

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "statehouse-dead-letters-"));
});
afterAll(() => rm(parent, { recursive: true }));

const type = "statehouse.workspaces.workspace.locked.v1";

const eventOf = (id: string, subject: string, revision: number, minute: number): Event => ({
  ...{ id, type, subject, revision, organizationId: "org-1", source: "urn:statehouse:default/x" },
  time: new Date(Date.UTC(2026, 0, 1, 0, minute)),
  ...{ traceparent: undefined, auth: { type: "user", id: "user-1" }, json: `{"id":"${id}"}` },
});

const failed = (event: Event, error: unknown = new Error("no")) => ({
  ...{ event, error, consumer: "billing", failures: 8 },
});

test("a stored event is replayed as it was received, oldest first, and deleted when it succeeds", async () => {
  const folder = path.join(parent, "replayed");
  const letters = deadLetterFiles(folder);
  expect(await letters.count()).toBe(0);
  expect(await letters.replay({})).toEqual({ replayed: 0, failed: 0 });
  const events = [
    eventOf("../c", "ws-1", 2, 1),
    eventOf("b", "ws-2", 1, 2),
    // The events of one object are ordered by revision, because the clocks of two replicas can differ.
    eventOf("a", "ws-1", 1, 1),
  ];
  for (const event of events) await letters.store(failed(event));
  expect(await letters.count()).toBe(3);
  const received: Event[] = [];
  const handlers: EventHandlers = { [type]: async (event) => void received.push(event) };
  expect(await letters.replay(handlers)).toEqual({ replayed: 3, failed: 0 });
  expect(received).toEqual([events[2], events[0], events[1]]);
  expect(await readdir(folder)).toEqual([]);
});

test("an event that fails again stays with its new error, and a repeated one replaces its file", async () => {
  const folder = path.join(parent, "failed");
  const letters = deadLetterFiles(folder);
  await letters.store(failed(eventOf("a", "ws-1", 1, 1)));
  await letters.store(failed(eventOf("a", "ws-1", 1, 1), new Error("x".repeat(5000))));
  const [name = "", ...others] = await readdir(folder);
  expect(others).toEqual([]);
  const file = path.join(folder, name);
  const content = async () => JSON.parse(await readFile(file, "utf8"));
  expect((await content()).error).toHaveLength(1000);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const fails = async () => {
    throw new Error("still");
  };
  expect(await letters.replay({ [type]: fails })).toEqual({ replayed: 0, failed: 1 });
  expect(await content()).toMatchObject({ failures: 9, error: "Error: still" });
  expect(await letters.replay({})).toEqual({ replayed: 0, failed: 1 });
  expect((await content()).error).toContain("There is no handler for");
  expect(await letters.replay({}, async () => {})).toEqual({ replayed: 1, failed: 0 });
});

test("events of a foreign publisher, whose ids are empty or very long, have a file each", async () => {
  const folder = path.join(parent, "foreign");
  const letters = deadLetterFiles(folder);
  const ids = ["", "x".repeat(5000), "\u{1F512}".repeat(30)];
  const events = ids.map((id, index) => eventOf(id, "ws-1", index, 1));
  const nameless = eventOf("", "ws-2", 1, 2);
  for (const event of [...events, nameless, nameless]) await letters.store(failed(event));
  expect(await letters.count()).toBe(4);
  const received: Event[] = [];
  expect(await letters.replay({}, async (event) => void received.push(event))).toEqual({
    ...{ replayed: 4, failed: 0 },
  });
  expect(received).toEqual([...events, nameless]);
  expect(await readdir(folder)).toEqual([]);
});

test("replicas with the same process id can store the same event", async () => {
  const folder = path.join(parent, "shared");
  const replicas = Array.from({ length: 20 }, () => deadLetterFiles(folder));
  await Promise.all(replicas.map((each) => each.store(failed(eventOf("a", "ws-1", 1, 1)))));
  expect(await readdir(folder)).toEqual(["a.json"]);
});

test("a dead letter that cannot be written leaves no draft", async () => {
  const folder = path.join(parent, "refused");
  // The draft cannot replace a folder.
  await mkdir(path.join(folder, "a.json"), { recursive: true });
  await expect(deadLetterFiles(folder).store(failed(eventOf("a", "ws-1", 1, 1)))).rejects.toThrow();
  expect(await readdir(folder)).toEqual(["a.json"]);
});

test("a file that cannot be read does not prevent the replay of the others", async () => {
  const folder = path.join(parent, "unreadable");
  const letters = deadLetterFiles(folder);
  await letters.store(failed(eventOf("a", "ws-1", 1, 1)));
  await writeFile(path.join(folder, "broken.json"), "{");
  expect(await letters.replay({}, async () => {})).toEqual({ replayed: 1, failed: 1 });
  expect(await readdir(folder)).toEqual(["broken.json"]);
});
