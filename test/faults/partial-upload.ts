import { request } from "node:http";

/** A PUT that has announced all its bytes and sent only the first `sent` bytes. */
export function partialUpload(url: string, bytes: Buffer, sent: number): AsyncDisposable {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const upload = request(url, {
    method: "PUT",
    agent: false,
    headers: { "content-length": String(bytes.length) },
  });
  // Resolves in any case: with a response, or when the other side was killed.
  upload.once("close", resolve).on("error", () => {});
  upload.on("response", (response) => response.resume());
  upload.write(bytes.subarray(0, sent));
  return {
    async [Symbol.asyncDispose]() {
      upload.destroy();
      await over;
    },
  };
}
