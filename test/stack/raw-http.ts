import { connect } from "node:net";

/** A response as it was read from the socket. */
export interface RawAnswer {
  status: number;
  headers: string;
  body: string;
}

/**
 * Sends a request with this first line and these headers, which an HTTP client would refuse to send. Adds `Connection:
 * close`, and `Host` and `Content-Length` if needed. Reads until the server closes the connection.
 */
export function rawRequest(
  url: string,
  firstLine: string,
  headers: readonly string[],
  body = "",
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const chunks: Buffer[] = [];
    socket.on("error", reject);
    socket.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on("close", () => {
      const text = Buffer.concat(chunks).toString();
      const [head = "", ...rest] = text.split("\r\n\r\n");
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
      resolve({ status, headers: head, body: rest.join("\r\n\r\n") });
    });
    const all = [
      `${firstLine} HTTP/1.1`,
      ...(headers.some((line) => /^host:/i.test(line)) ? [] : [`Host: ${hostname}:${port}`]),
      "Connection: close",
      ...headers,
      ...(body ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
    ];
    socket.write(`${all.join("\r\n")}\r\n\r\n${body}`, "latin1");
  });
}
