import { type Channel, type GrpcTls, grpcChannel } from "@statehouse/rpc";

/** The services that other services call. */
export type ServiceName = "access" | "workspaces" | "state";

/** The setting that contains the address of each service. */
export type ServiceAddresses<Client extends ServiceName> = {
  [Name in Client as `${Uppercase<Name>}_ADDRESS`]: string;
};

/** Opens gRPC channels to the services `clients` at the configured addresses. `stack` closes them. */
export function openChannels<Client extends ServiceName>(
  clients: readonly Client[],
  config: ServiceAddresses<NoInfer<Client>>,
  tls: GrpcTls | undefined,
  stack: AsyncDisposableStack,
): Record<Client, Channel> {
  const channels = clients.map((audience) => {
    const address = Reflect.get(config, `${audience.toUpperCase()}_ADDRESS`) as string;
    return [audience, stack.use(grpcChannel({ address, audience, tls }))];
  });
  return Object.fromEntries(channels) as Record<Client, Channel>;
}
