import path from "node:path";
import type { Secrets } from "./data-directory.ts";

export const serviceNames = ["access", "workspaces", "state", "gateway"] as const;

export type ServiceName = (typeof serviceNames)[number];

/** The environment variables of one service, as if it ran in a separate process. */
export type Environment = Record<string, string>;

export interface Installation {
  secrets: Secrets;
  /** Returns the URL of the service's own database. */
  databaseUrl: (service: Exclude<ServiceName, "gateway">) => string;
  natsUrl: string;
  /** The user and password for NATS. Default: none. */
  natsLogin?: { user: string; password: string };
  publicUrl: string;
  /** The address to which the gateway uploads inline state. It is reachable only within the installation. */
  objectUrl: string;
  /** The gRPC address (host:port) of each service. Unused if all services run in one process. */
  addresses: Record<Exclude<ServiceName, "gateway">, string>;
  /** The operator's settings and the location of state bytes. Each service reads only the settings of its schema. */
  settings: Readonly<Record<string, string | undefined>>;
}

/** Returns the settings that store state bytes in the data folder. The operator's settings can override them. */
export const blobsIn = (folder: string): Environment => ({
  BLOB_STORE: "directory",
  BLOB_DIRECTORY: path.join(folder, "blobs"),
});

/** Creates one environment for each service from the shared settings. */
export function serviceEnvironments(installation: Installation): Record<ServiceName, Environment> {
  const { secrets, databaseUrl, natsUrl, natsLogin, publicUrl, objectUrl, addresses, settings } =
    installation;
  const configured = Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const common = (service: ServiceName): Environment => ({
    GRPC_TLS: "off",
    ...configured,
    NATS_URL: natsUrl,
    ...(natsLogin && { NATS_USER: natsLogin.user, NATS_PASSWORD: natsLogin.password }),
    PUBLIC_URL: publicUrl,
    ASSERTION_PRIVATE_KEY: secrets.assertionKeys[service] ?? "",
    ASSERTION_PUBLIC_KEYS: secrets.assertionPublicKeys,
    ACCESS_ADDRESS: addresses.access,
    WORKSPACES_ADDRESS: addresses.workspaces,
    STATE_ADDRESS: addresses.state,
  });
  return {
    access: { ...common("access"), DATABASE_URL: databaseUrl("access") },
    workspaces: {
      ...common("workspaces"),
      DATABASE_URL: databaseUrl("workspaces"),
      SEALING_KEYS: secrets.sealingKeys,
    },
    state: {
      ...common("state"),
      DATABASE_URL: databaseUrl("state"),
      UPLOAD_TOKEN_KEYS: secrets.uploadTokenKeys,
      SEALING_KEYS: secrets.sealingKeys,
    },
    gateway: { ...common("gateway"), STATE_OBJECT_URL: objectUrl },
  };
}
