import { RequestError } from "@nats-io/transport-node";
import type { Event } from "./event.ts";
import type { Nats } from "./nats.ts";

/**
 * The first part of the subjects of requests: `statehouse-listing.<service>` for the objects of a service, and
 * `statehouse-listing.stream` for the position of the stream. If the subscriber has an account of its own, the import
 * of this account appends the name of the subscriber. The subjects do not begin with `statehouse.`, because the stream
 * of events contains all subjects that do.
 */
export const LISTING_SUBJECT = "statehouse-listing";

/** The creation time of the event stream, and the range of sequence numbers that it currently contains. */
export interface StreamState {
  /** Differs if the stream was deleted and created again. */
  created: string;
  /** The sequence number of the oldest event; greater than `lastSequence` if the stream is empty. */
  firstSequence: number;
  lastSequence: number;
}

/** Where a page of the listing begins. */
export interface PagePosition {
  service: string;
  /** Empty for the first page of the service. */
  cursor: string;
}

/** The position of the first page. Each page contains the position of the next one. */
export const FIRST_PAGE: PagePosition = { service: "access", cursor: "" };

const TIMEOUT_MS = 15_000;

/** Creates the client of the listing for subscribers. Its functions throw if a response is an error. */
export function createListingClient(nats: Nats) {
  const request = async <Response>(name: string, body: object): Promise<Response> => {
    const connection = await nats.connection();
    const subject = `${LISTING_SUBJECT}.${name}`;
    const reply = await connection
      .request(subject, JSON.stringify(body), { timeout: TIMEOUT_MS })
      .catch((error: unknown) => {
        if (!(error instanceof RequestError && error.isNoResponders())) throw error;
        throw new Error(
          `The listing cannot be reached at ${subject}: this login does not import it, or Statehouse does not run.`,
        );
      });
    const response = reply.json<Response & { error?: string }>();
    if (response.error !== undefined) throw new Error(`${subject} responded: ${response.error}`);
    return response;
  };
  return {
    stream: () => request<StreamState>("stream", {}),
    /** Returns the events of all objects whose subjects match the filter, page by page. */
    async *objects(filter: string): AsyncGenerator<Event> {
      for (let position: PagePosition | undefined = FIRST_PAGE; position; ) {
        const { service, cursor }: PagePosition = position;
        const page: Page = await request(service, { filter, cursor });
        for (const listed of page.events) yield eventOf(listed);
        position = page.next;
      }
    },
  };
}

interface Page {
  events: ListedEvent[];
  /** Undefined if the page is the last one. */
  next?: PagePosition;
}

/** An event in the JSON format of CloudEvents. */
interface ListedEvent {
  id: string;
  type: string;
  source: string;
  subject: string;
  time: string;
  sequence: string;
  organization?: string;
  data: unknown;
}

const eventOf = (listed: ListedEvent): Event => ({
  id: listed.id,
  type: listed.type,
  organizationId: listed.organization,
  source: listed.source,
  subject: listed.subject,
  revision: Number(listed.sequence),
  time: new Date(listed.time),
  traceparent: undefined,
  auth: undefined,
  json: JSON.stringify(listed.data),
  isListed: true,
});
