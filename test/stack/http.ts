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
    const response = await fetch(target, {
      method,
      redirect: "manual",
      headers: {
        "content-type": "application/vnd.api+json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const answer = await answerOf(response);
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
): Promise<Answer> =>
  answerOf(
    await fetch(url, {
      method: "PUT",
      headers: { "content-type": "application/octet-stream", ...headers },
      body: typeof bytes === "string" ? bytes : Uint8Array.from(bytes),
    }),
  );

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

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== "" ? JSON.parse(text) : text,
  };
}

/** Builds a JSON:API request document. */
export const document = (
  type: string,
  attributes: Record<string, unknown>,
  relationships?: Record<string, unknown>,
) => ({ data: { type, attributes, ...(relationships ? { relationships } : {}) } });

/** Builds a relationship to one resource, for a request document. */
export const linkage = (type: string, id: string | undefined) => ({ data: { type, id } });
