import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { startStack } from "../stack/stack.ts";
import { inlineState, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, useStack } from "../system/fixture.ts";

// Attack: a client guesses tokens at the port for state bytes, where the limit of the API does not apply. Each guess
// costs an SQL statement.

const LIMIT = 3;
const fixture = useStack(() =>
  startStack({ settings: { FAILED_AUTHENTICATION_LIMIT: String(LIMIT) } }),
);

test("invalid tokens at the state bytes are limited, and valid ones are not", async () => {
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const path = `/workspaces/${id}/state-versions`;
  const { body } = await owner.api.post(path, inlineState(stateFile()));
  const url = String(body.data.attributes["hosted-state-download-url"]);
  const download = async (token: string) => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    return answer;
  };
  expect((await download(owner.token)).status).toBe(200);
  const guess = () => download(`a.${randomBytes(32).toString("base64url")}`);
  const statuses: number[] = [];
  for (let count = 0; count < LIMIT; count++) statuses.push((await guess()).status);
  expect(statuses).toEqual(Array(LIMIT).fill(401));
  const refused = await guess();
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await download(owner.token)).status).toBe(200);
});
