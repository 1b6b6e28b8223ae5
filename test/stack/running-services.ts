import type { Channel } from "@statehouse/rpc";
import type { Logger } from "@statehouse/runtime";
import type { Environment, Installation, ServiceName } from "@statehouse/standalone/environments";

/** The services of a stack, in one process or as four. */
export interface RunningServices extends AsyncDisposable {
  url: string;
  /** Channels to access and workspaces for calls as named services. */
  access: Channel;
  workspaces: Channel;
  /** host:port of the gRPC port of workspaces, for runners in other processes; opened at the first call. */
  runnerAddress(): Promise<string>;
  environments: Record<ServiceName, Environment>;
}

/** The settings of a stack's services, when their addresses are known. */
export interface RunOptions {
  /** The settings of all services, as an operator would give them. */
  settings: Readonly<Record<string, string>>;
  rewire: (environments: Record<ServiceName, Environment>) => Promise<void>;
  environments: (
    where: Pick<Installation, "publicUrl" | "objectUrl" | "addresses">,
  ) => Record<ServiceName, Environment>;
  logger: Logger;
}
