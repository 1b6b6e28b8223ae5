import { expect, test } from "vitest";
import { useFixture } from "../system/fixture.ts";

const FAILURES = 3;
const fixture = useFixture({
  settings: { FAILED_AUTHENTICATION_LIMIT: String(FAILURES), TRUSTED_PROXIES: "127.0.0.1" },
});

/**
 * Sends a request with an invalid token, as a trusted proxy forwards it for the address `client`; returns the status.
 */
async function statusFrom(client: string, token: string): Promise<number> {
  const response = await fetch(`${fixture().url}/api/v2/organizations`, {
    headers: { authorization: `Bearer ${token}`, "x-forwarded-for": client },
  });
  await response.arrayBuffer();
  return response.status;
}

test("a client of IPv6 guesses no more tokens by using other addresses of its network", async () => {
  const statuses: number[] = [];
  for (let n = 1; n <= FAILURES + 2; n++) {
    statuses.push(await statusFrom(`2001:db8:0:7::${n.toString(16)}`, `wrong-${n}`));
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429]);
  expect(await statusFrom("2001:db8:0:7:ffff:ffff:ffff:ffff", "wrong-again")).toBe(429);
  expect(await statusFrom("2001:db8:0:8::1", "wrong-elsewhere")).toBe(401);
});
