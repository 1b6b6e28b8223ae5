import type { DescService } from "@bufbuild/protobuf";
import { type Channel, type Client, createClient } from "@statehouse/rpc";

/** The channels to the services. */
export interface Channels {
  access: Channel;
  workspaces: Channel;
  state: Channel;
}

/** Returns the client of a gRPC service, for example `client(SshKeyService)`. */
export type Clients = <Service extends DescService>(service: Service) => Client<Service>;

/**
 * Creates each client once. The second part of its proto package names the channel: `statehouse.workspaces.v1` uses
 * `workspaces`.
 */
export function createClients(channels: Channels): Clients {
  const byName: ReadonlyMap<string, Channel> = new Map(Object.entries(channels));
  const clients = new Map<DescService, object>();
  return <Service extends DescService>(service: Service) => {
    const known = clients.get(service);
    // Safe cast: `client` below stored the client that it created for this service.
    if (known) return known as Client<Service>;
    const name = service.file.proto.package.split(".")[1] ?? "";
    const channel = byName.get(name);
    if (!channel) throw new Error(`there is no channel to ${service.typeName}`);
    const client = createClient(service, channel);
    clients.set(service, client);
    return client;
  };
}
