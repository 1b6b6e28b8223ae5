import { request } from "node:http";

/** Starts a PUT whose Content-Length counts all bytes, but which sends only the first `sent` bytes. */
export function partialUpload(url: string, bytes: Buffer, sent: number): AsyncDisposable {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const upload = request(url, {
    method: "PUT",
    agent: false,
    headers: { "content-length": String(bytes.length) },
  });
  // The request closes after a response, and also if the server was killed.
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
