import { nkeys } from "@nats-io/transport-node";
import { nkeyCredential } from "@statehouse/events/nkey-credential";

/** A subscriber with an nkey, and its entry in EVENT_SUBSCRIBERS. */
export interface NkeySubscriber {
  seed: string;
  publicKey: string;
  declaration: string;
}

/** Creates an nkey for a subscriber; returns it with the entry that declares the subscriber. */
export function newSubscriber(durable: string, filter: string): NkeySubscriber {
  const pair = nkeys.createUser();
  const publicKey = pair.getPublicKey();
  const seed = new TextDecoder().decode(pair.getSeed());
  return { seed, publicKey, declaration: `${durable}=${filter};${publicKey}` };
}

/** An event of the listing, in the JSON format of CloudEvents. */
export interface ListedEvent {
  type: string;
  subject: string;
  sequence: string;
  source: string;
  organization?: string;
  data: Readonly<Record<string, unknown>>;
}

export interface ListingAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Sends a request with this nkey credential in its Authorization header. */
export async function withCredential(
  url: string,
  target: string,
  credential: string,
): Promise<ListingAnswer> {
  const response = await fetch(`${url}${target}`, {
    headers: { Authorization: `Nkey ${credential}` },
  });
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}

/** Sends a request with a credential that is signed with the subscriber's nkey. */
export const signed = (
  url: string,
  target: string,
  { seed }: Pick<NkeySubscriber, "seed">,
): Promise<ListingAnswer> =>
  withCredential(url, target, nkeyCredential(seed, { origin: url, target }));

/** Reads all pages of the listing. */
export async function listAll(
  url: string,
  subscriber: Pick<NkeySubscriber, "seed">,
  query: Readonly<Record<string, string>> = {},
): Promise<{ events: ListedEvent[]; pages: number }> {
  const events: ListedEvent[] = [];
  let cursor: string | null = null;
  let pages = 0;
  do {
    const parameters = new URLSearchParams({ ...query, ...(cursor === null ? {} : { cursor }) });
    const target = `/events/v1/objects${parameters.size > 0 ? `?${parameters}` : ""}`;
    const answer = await signed(url, target, subscriber);
    if (answer.status !== 200) throw new Error(`${target} failed: ${answer.text}`);
    for (const line of answer.text.split("\n")) if (line !== "") events.push(JSON.parse(line));
    cursor = answer.headers.get("Statehouse-Cursor");
    pages += 1;
  } while (cursor !== null);
  return { events, pages };
}
