/** An answer with its JSON:API document. */
export interface Answer {
  status: number;
  headers: Headers;
  // Tests read documents as they please; a wrong path fails their assertion.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is under test
  body: any;
}

/** Calls the API as one token's holder. Paths are relative to /api/v2 unless they are URLs. */
export interface Api {
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  delete(path: string, body?: unknown): Promise<Answer>;
  send(method: string, path: string, body?: unknown): Promise<Answer>;
}

/** A client of the API at `url`. Without a token it calls as nobody. */
export function api(url: string, token?: string): Api {
  const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const target = path.startsWith("http") ? path : `${url}/api/v2${path}`;
    const response = await fetch(target, {
      method,
      headers: {
        "content-type": "application/vnd.api+json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text,
    };
  };
  return {
    send,
    get: (path) => send("GET", path),
    post: (path, body) => send("POST", path, body),
    patch: (path, body) => send("PATCH", path, body),
    delete: (path, body) => send("DELETE", path, body),
  };
}

/** A JSON:API request document. */
export const document = (
  type: string,
  attributes: Record<string, unknown>,
  relationships?: Record<string, unknown>,
) => ({ data: { type, attributes, ...(relationships ? { relationships } : {}) } });
