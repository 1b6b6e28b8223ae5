import { createLogger } from "@statehouse/runtime";
import { ownPostgres } from "@statehouse/testing";
import { afterEach, expect, test, vi } from "vitest";
import { openDatabase } from "../database.ts";
import { migrate } from "../migrations.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("a rejected login is logged once, and readiness fails after a while although open connections work", async () => {
  await using postgres = await ownPostgres();
  let url = await postgres.admit("cups", "postgres");
  const admin = { url: postgres.url("postgres"), grantTo: "cups" };
  await migrate({ ...admin, contextName: "cups", migrations: [] });
  const lines: string[] = [];
  const logger = createLogger({
    service: "test",
    destination: { write: (line) => void lines.push(line) },
  });
  const options = { contextName: "cups", entities: [], migrations: [], logger };
  await using database = await openDatabase({ ...options, url: () => url });
  const sleep = () => database.query("select pg_sleep(0.2)");
  await sleep();
  const renewed = await postgres.admit("cups", "postgres");

  for (let round = 0; round < 3; round++) {
    // The second statement needs another connection.
    const [open, other] = await Promise.allSettled([sleep(), sleep()]);
    expect(open.status).toBe("fulfilled");
    expect(other).toMatchObject({ reason: { kind: "unavailable" } });
  }
  await database.ready();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 11_000 });
  await expect(database.ready()).rejects.toThrow("password authentication failed");
  expect(lines).toEqual([expect.stringContaining('"the database rejects the login"')]);
  expect(lines[0]).not.toContain("stack");

  url = renewed;
  await database.ready();
  expect(lines.slice(1)).toEqual([expect.stringContaining("accepts the login again")]);
});
