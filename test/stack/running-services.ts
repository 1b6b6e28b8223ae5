import type { Channel } from "@statehouse/rpc";
import type { Logger } from "@statehouse/runtime";
import type { Environment, Installation, ServiceName } from "@statehouse/standalone/environments";

/** The running services of a stack, in one process or in four. */
export interface RunningServices extends AsyncDisposable {
  url: string;
  /** Channels to the access and workspaces services, for calls that a test makes as another service. */
  access: Channel;
  workspaces: Channel;
  /**
   * Returns host:port of the workspaces service's gRPC port, for runners in other processes. The port is opened at the
   * first call.
   */
  runnerAddress(): Promise<string>;
  environments: Record<ServiceName, Environment>;
}

/** How to start the services of a stack. */
export interface RunOptions {
  /** The settings of all services, as an operator would set them. */
  settings: Readonly<Record<string, string>>;
  rewire: (environments: Record<ServiceName, Environment>) => Promise<void>;
  environments: (
    where: Pick<Installation, "publicUrl" | "objectUrl" | "addresses">,
  ) => Record<ServiceName, Environment>;
  logger: Logger;
}
