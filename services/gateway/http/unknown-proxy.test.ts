import { expect, test } from "vitest";
import { ask, logged, useGateway } from "../test/use-gateway.ts";

useGateway({ TRUSTED_PROXIES: "", FAILED_AUTHENTICATION_LIMIT: "1" });

const wrong = (headers: Record<string, string> = {}) =>
  ask("GET", "/api/v2/workspaces/ws-1", undefined, "wrong", headers);

test("behind a proxy that is not trusted all clients share a higher limit, and the log says so once", async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 12; n++) {
    statuses.push((await wrong({ "x-forwarded-for": `192.0.2.${n}` })).status);
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
  expect(logged.filter((line) => line.includes("TRUSTED_PROXIES"))).toHaveLength(1);
});

test("without a proxy the address of the connection is limited", async () => {
  expect([(await wrong()).status, (await wrong()).status]).toEqual([401, 429]);
});
