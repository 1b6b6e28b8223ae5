import { randomBytes } from "node:crypto";
import { createIdentity, generateAssertionKey } from "@statehouse/rpc";

type Identity = Awaited<ReturnType<typeof createIdentity>>;

/** The keys of the services of one installation. */
export interface ServiceKeys<Name extends string> {
  /** The public keys of all services, by name. */
  readonly publicKeys: ReturnType<typeof publicKeysOf>;
  /** The services' identities, which sign calls, by service name. */
  readonly identities: Readonly<Record<Name, Identity>>;
  /** Returns those settings of a service that contain keys, and `GRPC_TLS`. */
  settingsOf(name: Name): {
    ASSERTION_PRIVATE_KEY: string;
    ASSERTION_PUBLIC_KEYS: string;
    GRPC_TLS: "off";
  };
}

/** Generates the keys of `names`, which are services and other callers. */
export async function newServiceKeys<Name extends string>(
  ...names: readonly Name[]
): Promise<ServiceKeys<Name>> {
  const pairs = new Map(
    await Promise.all(names.map(async (name) => [name, await generateAssertionKey()] as const)),
  );
  const publicKeys = publicKeysOf(pairs);
  const identities = await Promise.all(
    [...pairs].map(async ([name, { privateJwk }]) => [
      name,
      await createIdentity(name, privateJwk),
    ]),
  );
  return {
    publicKeys,
    identities: Object.fromEntries(identities),
    settingsOf: (name) => ({
      ASSERTION_PRIVATE_KEY: JSON.stringify(pairs.get(name)?.privateJwk),
      ASSERTION_PUBLIC_KEYS: JSON.stringify(publicKeys),
      // Tests with certificates set this to `on`.
      GRPC_TLS: "off",
    }),
  };
}

type KeyPair = Awaited<ReturnType<typeof generateAssertionKey>>;

const publicKeysOf = (pairs: ReadonlyMap<string, KeyPair>) =>
  Object.fromEntries([...pairs].map(([name, { publicJwk }]) => [name, [publicJwk]]));

/** Generates the value of a setting that contains a key list: one symmetric key of 32 bytes. */
export const newKeyRing = (): string => `k1:${randomBytes(32).toString("base64")}`;
