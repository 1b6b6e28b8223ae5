import type { Material, Subscriber } from "./material.ts";

/** The names of each service's consumers; the durable name is `<service>-<name>`. */
export const consumers: Readonly<Record<string, readonly string[]>> = {
  access: ["grants", "ended-runs", "runs-of-deleted-workspaces", "deleted-users"],
  workspaces: ["workspace-state", "created", "updated", "deleted", "deleted-users"],
  state: ["updated", "deleted", "deleted-users"],
};

/** The account of the services, which contains the streams. */
const ACCOUNT = "STATEHOUSE";
/** The JetStream domain through which a subscriber reaches its durable consumer in the account of the services. */
const DOMAIN = "statehouse";

const streamOf = ({ filter }: Subscriber): string =>
  filter.startsWith("statehouse-mail.") ? "STATEHOUSE_MAIL" : "STATEHOUSE";

const nkeysOf = (keys: Material["nats"][string] = []) =>
  keys.map(({ publicKey }) => ({ nkey: publicKey }));

/**
 * Returns the part of the NATS server's configuration that contains the accounts and nkeys of the services and the
 * subscribers. Each subscriber has a separate account, because permissions on subjects do not restrict a JetStream
 * client enough. A client's request can name any subject for the response, and the server publishes the response on
 * that subject, even if that is the subject that purges the stream.
 */
export function natsUsers({ nats, subscribers }: Material): string {
  const all = Object.entries(subscribers).map(([name, subscriber]) => ({ name, ...subscriber }));
  const users = Object.keys(consumers).flatMap((service) =>
    nkeysOf(nats[service]).map((user) => ({
      ...user,
      permissions: {
        publish: publishedBy(service, all),
        subscribe: [
          `_INBOX_${service}.>`,
          ...[service, "stream"].map((name) => `statehouse-listing.${name}.*`),
        ],
        // A service may respond to requests for the listing, once each.
        allow_responses: true,
      },
    })),
  );
  const accounts = {
    [ACCOUNT]: { jetstream: "enabled", users, exports: all.flatMap(exportsTo) },
    ...Object.fromEntries(
      all.map((one) => [
        accountOf(one.name),
        { users: nkeysOf(nats[one.name]), imports: importsOf(one) },
      ]),
    ),
  };
  return `accounts ${JSON.stringify(accounts, null, 2)}\n`;
}

type Named = Subscriber & { name: string };

const accountOf = (name: string): string => `SUBSCRIBER_${name}`;

function publishedBy(service: string, subscribers: readonly Named[]): string[] {
  const durables = (consumers[service] ?? []).map((name) => `${service}-${name}`);
  return [
    `statehouse.${service}.>`,
    "$JS.API.INFO",
    // Only the access service publishes events for the mail sender. But every service may create the streams and the
    // durable consumers that subscribers import.
    ...(service === "access" ? ["statehouse-mail.access.>"] : []),
    ...["STATEHOUSE", "STATEHOUSE_MAIL"].flatMap((stream) =>
      ["INFO", "CREATE", "UPDATE"].map((action) => `$JS.API.STREAM.${action}.${stream}`),
    ),
    ...durables.flatMap((durable) => [
      `$JS.API.CONSUMER.*.STATEHOUSE.${durable}`,
      `$JS.API.CONSUMER.MSG.NEXT.STATEHOUSE.${durable}`,
      `$JS.API.CONSUMER.CREATE.STATEHOUSE.${durable}.>`,
      `$JS.ACK.STATEHOUSE.${durable}.>`,
    ]),
    ...subscribers.flatMap((one) => [
      `$JS.API.CONSUMER.INFO.${streamOf(one)}.${one.name}`,
      `$JS.API.CONSUMER.CREATE.${streamOf(one)}.${one.name}.>`,
    ]),
  ];
}

/**
 * The requests that a subscriber may send to JetStream: to get the position of its durable consumer, to get the next
 * events, and to acknowledge events.
 */
const requestsOf = (one: Named) => {
  const durable = `${streamOf(one)}.${one.name}`;
  return { info: `CONSUMER.INFO.${durable}`, next: `CONSUMER.MSG.NEXT.${durable}`, durable };
};

function exportsTo(one: Named): object[] {
  const { info, next, durable } = requestsOf(one);
  const accounts = [accountOf(one.name)];
  return [
    { service: `$JS.API.${info}`, accounts },
    { service: `$JS.API.${next}`, response_type: "stream", accounts },
    { service: `$JS.ACK.${durable}.>`, accounts },
    { service: `statehouse-listing.*.${one.name}`, accounts },
  ];
}

function importsOf(one: Named): object[] {
  const { info, next, durable } = requestsOf(one);
  const from = (subject: string) => ({ service: { account: ACCOUNT, subject } });
  return [
    ...[info, next].map((request) => ({
      ...from(`$JS.API.${request}`),
      // The prefix contains the domain, because $JS.API alone is the API of the subscriber's own account, which has no
      // streams.
      to: `$JS.${DOMAIN}.API.${request}`,
    })),
    from(`$JS.ACK.${durable}.>`),
    // The services identify the subscriber by the last part of the subject. The account of the subscriber cannot reach
    // a subject with another name.
    ...[...Object.keys(consumers), "stream"].map((name) => ({
      ...from(`statehouse-listing.${name}.${one.name}`),
      to: `statehouse-listing.${name}`,
    })),
  ];
}
