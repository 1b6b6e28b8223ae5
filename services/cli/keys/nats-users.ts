import type { Material } from "./material.ts";

/** The names of each service's consumers; the durable name is `<service>-<name>`. */
export const consumers: Readonly<Record<string, readonly string[]>> = {
  access: ["grants", "ended-runs", "runs-of-deleted-workspaces"],
  workspaces: ["workspace-state", "created", "updated", "deleted"],
  state: ["updated", "deleted"],
};

const ofConsumer = (durable: string): string[] => [
  `$JS.API.CONSUMER.*.STATEHOUSE.${durable}`,
  `$JS.API.CONSUMER.MSG.NEXT.STATEHOUSE.${durable}`,
  `$JS.API.CONSUMER.CREATE.STATEHOUSE.${durable}.>`,
  `$JS.ACK.STATEHOUSE.${durable}.>`,
];

/** What a service does with a stream: not its deletion. */
const ofStream = (stream: string): string[] =>
  ["INFO", "CREATE", "UPDATE"].map((action) => `$JS.API.STREAM.${action}.${stream}`);

/** Returns the part of the NATS server's configuration with the nkeys and subjects of the services. */
export function natsUsers({ nats }: Material): string {
  const users = Object.entries(nats).flatMap(([service, keys]) =>
    keys.map(({ publicKey }) => ({
      nkey: publicKey,
      permissions: {
        publish: [
          `statehouse.${service}.>`,
          "$JS.API.INFO",
          // Only the access service publishes events for the mail sender. All services may create the streams.
          ...(service === "access" ? ["statehouse-mail.access.>"] : []),
          ...["STATEHOUSE", "STATEHOUSE_MAIL"].flatMap(ofStream),
          ...(consumers[service] ?? []).flatMap((name) => ofConsumer(`${service}-${name}`)),
        ],
        subscribe: [`_INBOX_${service}.>`],
      },
    })),
  );
  return `authorization ${JSON.stringify({ users }, null, 2)}\n`;
}
