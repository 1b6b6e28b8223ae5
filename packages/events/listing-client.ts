import type { Event } from "./event.ts";
import type { Renewable } from "./nats-login.ts";
import { nkeyCredential } from "./nkey-credential.ts";

/** The address and the credentials with which a subscriber reads the listing. */
export interface ListingOptions {
  /** The address of the API: `https://terraform.example.com`. */
  url: string;
  /** The seed of the nkey with which the subscriber logs in to NATS. */
  nkeySeed: Renewable;
  /** Default: `fetch` of the process. */
  fetch?: typeof fetch;
}

/** The creation time of the event stream, and the range of sequence numbers that it currently contains. */
export interface StreamState {
  /** Differs if the stream was deleted and created again. */
  created: string;
  firstSequence: number;
  lastSequence: number;
}

export interface ListingClient {
  stream(): Promise<StreamState>;
  /** Returns the events of all objects whose subjects match the filter, page by page. */
  objects(filter: string): AsyncGenerator<Event>;
}

const PAGE = 1000;
const TIMEOUT_MS = 60_000;

/** Creates the client of the listing for subscribers. Its functions throw if the response is not a success. */
export function createListingClient({ url, nkeySeed, ...options }: ListingOptions): ListingClient {
  const origin = url.replace(/\/+$/, "");
  const send = options.fetch ?? fetch;
  const get = async (target: string): Promise<Response> => {
    const seed = typeof nkeySeed === "string" ? nkeySeed : nkeySeed();
    const response = await send(`${origin}${target}`, {
      headers: { Authorization: `Nkey ${nkeyCredential(seed, { origin, target })}` },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.ok) return response;
    const text = (await response.text()).slice(0, 200);
    throw new Error(`${origin}${target} responded with ${response.status}: ${text}`);
  };
  return {
    stream: async () => {
      const state: StreamState = JSON.parse(await (await get("/events/v1/stream")).text());
      const { created, firstSequence, lastSequence } = state;
      return { created, firstSequence, lastSequence };
    },
    async *objects(filter) {
      let cursor: string | null = null;
      do {
        const query = new URLSearchParams({ filter, limit: String(PAGE) });
        if (cursor !== null) query.set("cursor", cursor);
        const response = await get(`/events/v1/objects?${query}`);
        for (const line of (await response.text()).split("\n")) {
          if (line !== "") yield eventOf(line);
        }
        cursor = response.headers.get("Statehouse-Cursor");
      } while (cursor !== null);
    },
  };
}

interface Line {
  id: string;
  type: string;
  source: string;
  subject: string;
  time: string;
  sequence: string;
  organization?: string;
  data: unknown;
}

function eventOf(text: string): Event {
  const line: Line = JSON.parse(text);
  return {
    id: line.id,
    type: line.type,
    organizationId: line.organization,
    source: line.source,
    subject: line.subject,
    revision: Number(line.sequence),
    time: new Date(line.time),
    traceparent: undefined,
    auth: undefined,
    json: JSON.stringify(line.data),
    isListed: true,
  };
}
