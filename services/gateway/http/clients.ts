import type { DescService } from "@bufbuild/protobuf";
import { type Channel, type Client, createClient } from "@statehouse/rpc";

/** The channels to the services. */
export interface Channels {
  access: Channel;
  workspaces: Channel;
  state: Channel;
}

/**
 * Returns the client of a gRPC service, for example `client(SshKeyService)`. The second part of its proto package names
 * the channel: `statehouse.workspaces.v1` uses `workspaces`. If several services implement the same gRPC service,
 * `of` must name the channel of one of them.
 */
export type ClientFactory = <Service extends DescService>(
  service: Service,
  of?: keyof Channels,
) => Client<Service>;

/** Creates the function that returns clients. It creates each client once. */
export function createClientFactory(channels: Channels): ClientFactory {
  const byName: ReadonlyMap<string, Channel> = new Map(Object.entries(channels));
  const clients = new Map<string, object>();
  return <Service extends DescService>(
    service: Service,
    of: string = service.file.proto.package.split(".")[1] ?? "",
  ) => {
    const key = `${of} ${service.typeName}`;
    const known = clients.get(key);
    // Safe cast: the stored client was created for this service by the code below.
    if (known) return known as Client<Service>;
    const channel = byName.get(of);
    if (!channel) throw new Error(`there is no channel to ${service.typeName}`);
    const client = createClient(service, channel);
    clients.set(key, client);
    return client;
  };
}
