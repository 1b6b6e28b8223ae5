import { request } from "node:http";

/** A request whose body is half sent and which the server has begun to read. */
export interface HalfSent {
  /** Sends the rest of the body. */
  finish(): void;
  /** The status of the response. */
  answer: Promise<number>;
}

/** Sends the headers and half of the body. */
export async function halfSent(
  method: string,
  url: string,
  body: Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<HalfSent> {
  const answer = Promise.withResolvers<number>();
  // Handled here, so that the rejection is not unhandled if the test fails earlier.
  answer.promise.catch(() => {});
  const begun = Promise.withResolvers<void>();
  const sent = request(url, {
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
