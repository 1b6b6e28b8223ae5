import { request } from "node:http";
import { request as requestWithTls } from "node:https";

/** A half-sent request: the server is waiting for the second half of its body. */
export interface HalfSent {
  /** Sends the rest of the body. */
  finish(): void;
  /** The status of the response; pending until the response arrives. */
  answer: Promise<number>;
}

/** Sends the headers and half of the body of a request. */
export async function halfSent(
  method: string,
  url: string,
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<HalfSent> {
  const answer = Promise.withResolvers<number>();
  // Prevents an unhandled rejection if the test fails before it awaits the answer.
  answer.promise.catch(() => {});
  const begun = Promise.withResolvers<void>();
  const send = url.startsWith("https:") ? requestWithTls : request;
  const sent = send(url, {
    method,
    headers: { ...headers, "content-length": body.length, expect: "100-continue" },
  });
  sent.on("continue", () => begun.resolve());
  sent.on("response", (response) => answer.resolve(response.resume().statusCode ?? 0));
  sent.on("error", (error) => {
    begun.reject(error);
    answer.reject(error);
  });
  sent.flushHeaders();
  await begun.promise;
  const half = Math.floor(body.length / 2);
  await new Promise<void>((resolve) => sent.write(body.subarray(0, half), () => resolve()));
  return { finish: () => sent.end(body.subarray(half)), answer: answer.promise };
}
