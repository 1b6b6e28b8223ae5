import { Agent, type IncomingMessage, request } from "node:http";
import { request as requestWithTls } from "node:https";
import { text } from "node:stream/consumers";

/** A response with its JSON:API document. */
export interface Answer {
  status: number;
  headers: Headers;
  // The body is not typed, so that tests can read any path of a document; a wrong path makes an assertion fail.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is under test
  body: any;
}

/** A client of the API with one token. Paths are relative to /api/v2 unless they are URLs. */
export interface Api {
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  delete(path: string, body?: unknown): Promise<Answer>;
  /** Sends any request. A body that is a string is sent unchanged. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

/** Called after every response. */
export type Listener = (method: string, url: string, answer: Answer) => void;

/** Creates a client of the API at `url`. Without a token its calls are unauthenticated. */
export function api(url: string, token?: string, listener: Listener = () => {}): Api {
  const send: Api["send"] = async (method, path, body, headers = {}) => {
    const target = path.startsWith("http") ? path : `${url}/api/v2${path}`;
    const answer = await exchange(method, target, {
      headers: {
        "content-type": "application/vnd.api+json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: typeof body === "string" || body === undefined ? body : JSON.stringify(body),
    });
    listener(method, target, answer);
    return answer;
  };
  return {
    send,
    get: (path) => send("GET", path),
    post: (path, body) => send("POST", path, body),
    patch: (path, body) => send("PATCH", path, body),
    delete: (path, body) => send("DELETE", path, body),
  };
}

/** Uploads bytes to an upload URL without a token, as the CLI does. */
export const upload = async (
  url: string,
  bytes: Uint8Array | string,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const response = await fetch(url, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream", ...headers },
    body: typeof bytes === "string" ? bytes : Uint8Array.from(bytes),
  });
  return answerOf(response.status, response.headers, await response.text());
};

/** Downloads bytes from a download URL with a token, as the CLI does. */
export async function download(
  url: string,
  token?: string,
): Promise<{ status: number; bytes: Buffer }> {
  const response = await fetch(url, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
}

const agent = new Agent({ keepAlive: true });

/**
 * Makes a request with `node:http`, which takes half the CPU time of `fetch`; a run of all tests makes hundreds of
 * thousands of requests. Does not follow redirects or decompress bodies.
 */
const exchange = (
  method: string,
  target: string,
  { headers, body = "" }: { headers: Record<string, string>; body?: string | undefined },
) =>
  new Promise<Answer>((resolve, reject) => {
    const length = String(Buffer.byteLength(body));
    const options = {
      method,
      headers: body === "" ? headers : { "content-length": length, ...headers },
    };
    const receive = (incoming: IncomingMessage) => {
      text(incoming)
        .then((content) => {
          const received = new Headers();
          for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
            for (const value of values) received.append(name, value);
          }
          return answerOf(incoming.statusCode ?? 0, received, content);
        })
        .then(resolve, reject);
    };
    const outgoing = target.startsWith("https:")
      ? requestWithTls(target, options, receive)
      : request(target, { ...options, agent }, receive);
    outgoing.on("error", reject);
    outgoing.end(body);
  });

function answerOf(status: number, headers: Headers, content: string): Answer {
  const isJson = /json/.test(headers.get("content-type") ?? "");
  return { status, headers, body: isJson && content !== "" ? JSON.parse(content) : content };
}

/** Builds a JSON:API request document. */
export const document = (
  type: string,
  attributes: Record<string, unknown>,
  relationships?: Record<string, unknown>,
) => ({ data: { type, attributes, ...(relationships ? { relationships } : {}) } });

/** Builds a relationship to one resource, for a request document. */
export const linkage = (type: string, id: string | undefined) => ({ data: { type, id } });
