import { configSchema as access } from "@statehouse/access/config";
import { configSchema as gateway } from "@statehouse/gateway/config";
import { configSchema as state } from "@statehouse/state/config";
import { configSchema as workspaces } from "@statehouse/workspaces/config";
import type { z } from "zod";
import type { Material } from "./material.ts";

/** The values that a service or runner receives, by the name of the setting without `_FILE`. */
export type Values = Readonly<Record<string, string>>;

const schemas: Readonly<Record<string, z.ZodObject>> = { access, workspaces, state, gateway };

// Runners and subscribers are not services of this repository and have no configuration schema. A runner needs only the
// key that signs its calls and the TLS files of its connection. A subscriber needs only its NATS login.
const ofRunner = {
  ASSERTION_PRIVATE_KEY: true,
  GRPC_CA_FILE: true,
  GRPC_CERT_FILE: true,
  GRPC_KEY_FILE: true,
};
const ofSubscriber = { NATS_NKEY_SEED: true };

const list = (keys: readonly { id: string; key: string }[]): string =>
  keys.map(({ id, key }) => `${id}:${key}`).join(",");

/** Returns the values for one service, runner or subscriber, without the private keys of the others. */
export function valuesOf(material: Material, name: string): Values {
  const { assertions, uploads, sealing, nats, subscribers, authority, certificates } = material;
  const publicKeys = Object.fromEntries(
    Object.entries(assertions).map(([signer, keys]) => [signer, keys.map((key) => key.publicJwk)]),
  );
  const all: Record<string, string | undefined> = {
    ASSERTION_PRIVATE_KEY: JSON.stringify(assertions[name]?.[0]?.privateJwk),
    ASSERTION_PUBLIC_KEYS: JSON.stringify(publicKeys),
    UPLOAD_TOKEN_KEYS: list(uploads),
    SEALING_KEYS: sealing[name] && list(sealing[name]),
    NATS_NKEY_SEED: nats[name]?.[0]?.seed,
    EVENT_SUBSCRIBERS: Object.entries(subscribers)
      .map(([durable, { filter }]) => `${durable}=${filter}`)
      .join(","),
    GRPC_CA: authority.map(({ certificate }) => certificate).join(""),
    GRPC_CERT: certificates[name]?.certificate,
    GRPC_KEY: certificates[name]?.privateKey,
  };
  const declared = schemas[name]?.shape ?? (name in subscribers ? ofSubscriber : ofRunner);
  return Object.fromEntries(
    Object.entries(all).flatMap(([setting, value]) =>
      value && (setting in declared || `${setting}_FILE` in declared) ? [[setting, value]] : [],
    ),
  );
}

/** Returns whether services read the setting only from a file: certificates and their keys have several lines. */
export const isFileOnly = (setting: string): boolean => setting.startsWith("GRPC_");

/** The services, runners and subscribers that have keys. */
export const holders = ({ assertions, subscribers }: Material): string[] => [
  ...Object.keys(assertions),
  ...Object.keys(subscribers),
];
