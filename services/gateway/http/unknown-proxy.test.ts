import { expect, test } from "vitest";
import { ask, logged, useGateway } from "../test/use-gateway.ts";

useGateway({ TRUSTED_PROXIES: "", FAILED_AUTHENTICATION_LIMIT: "1" });

const wrong = (headers: Record<string, string> = {}) =>
  ask("GET", "/api/v2/workspaces/ws-1", undefined, "wrong", headers);

test("behind a proxy that is not trusted no address is limited, and the log says so once", async () => {
  const forwarded = { "x-forwarded-for": "192.0.2.1" };
  const statuses = [await wrong(forwarded), await wrong(forwarded), await wrong(forwarded)];
  expect(statuses.map(({ status }) => status)).toEqual([401, 401, 401]);
  expect(logged.filter((line) => line.includes("TRUSTED_PROXIES"))).toHaveLength(1);
});

test("without a proxy, the rate limit applies to the address of the connection", async () => {
  expect([(await wrong()).status, (await wrong()).status]).toEqual([401, 429]);
});
