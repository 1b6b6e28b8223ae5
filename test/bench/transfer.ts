import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Content } from "./content.ts";

const agent = new Agent({ keepAlive: true });

/** Closes idle connections, which the server can close at the moment at which the next request is sent. */
export const closeIdle = (): void => agent.destroy();

/** Uploads the content; returns the time until the response in ms. */
export async function put(
  url: string,
  content: Content,
  headers: Record<string, string> = {},
): Promise<number> {
  const startedAt = performance.now();
  const sent = request(url, {
    agent,
    method: "PUT",
    headers: {
      ...headers,
      "content-length": content.size,
      "content-type": "application/octet-stream",
    },
  });
  const answered = once(sent, "response");
  await Promise.all([pipeline(Readable.from(content.chunks()), sent), answered]);
  const [answer] = await answered;
  await drained(answer, "PUT", [200, 201, 204]);
  return performance.now() - startedAt;
}

/** Downloads a body and discards it; returns the duration in ms. */
export async function get(
  url: string,
  size: number,
  headers: Record<string, string> = {},
): Promise<number> {
  const startedAt = performance.now();
  const outgoing = request(url, { agent, headers });
  const answered = once(outgoing, "response");
  outgoing.end();
  const [answer] = await answered;
  const received = await drained(answer, "GET", [200]);
  if (received !== size) throw new Error(`GET returned ${received} of ${size} bytes`);
  return performance.now() - startedAt;
}

async function drained(
  answer: IncomingMessage,
  method: string,
  expected: readonly number[],
): Promise<number> {
  let received = 0;
  let text = "";
  const isExpected = expected.includes(answer.statusCode ?? 0);
  for await (const chunk of answer) {
    received += chunk.length;
    if (!isExpected && text.length < 1000) text += chunk;
  }
  if (!isExpected) throw new Error(`${method} returned ${answer.statusCode}: ${text}`);
  return received;
}
