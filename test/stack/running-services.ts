import type { Channel } from "@statehouse/rpc";
import type { Logger } from "@statehouse/runtime";
import type { Environment, Installation, ServiceName } from "@statehouse/standalone/environments";
import type { ServiceCertificates } from "@statehouse/testing";
import type { ServiceProcess } from "./service-process.ts";

/** Channels for calls to the access service and to the workspaces service. */
export interface Channels {
  access: Channel;
  workspaces: Channel;
}

/** The running services of a stack, in one process or in four. */
export interface RunningServices extends AsyncDisposable {
  url: string;
  /** Returns channels for calls that a test makes as the service or runner `name`. */
  channelsOf(name: string): Channels;
  /**
   * Returns host:port of the workspaces service's gRPC port, for runners in other processes. The port is opened at the
   * first call.
   */
  runnerAddress(): Promise<string>;
  environments: Record<ServiceName, Environment>;
}

/** How to start the services of a stack. */
export interface RunOptions {
  /** The certificates of the services. Undefined: gRPC without TLS. */
  certificates: ServiceCertificates | undefined;
  /** The settings of all services, as an operator would set them. */
  settings: Readonly<Record<string, string>>;
  rewire: (environments: Record<ServiceName, Environment>) => Promise<void>;
  environments: (
    where: Pick<Installation, "publicUrl" | "objectUrl" | "addresses">,
  ) => Record<ServiceName, Environment>;
  /** Returns a service's process without starting it. Unused if all services run in one process. */
  process: (name: ServiceName, environment: Environment) => ServiceProcess;
  logger: Logger;
}
