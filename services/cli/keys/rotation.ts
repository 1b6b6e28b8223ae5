import { randomBytes } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";
import { generateAssertionKey } from "@statehouse/rpc";
import { StartError } from "@statehouse/runtime";
import { issueCertificate, newAuthority } from "@statehouse/standalone/certificates";
import { isRunner, isSubscriber, type Material, services } from "./material.ts";

/** The kinds of keys that are rotated in three steps. */
export const kinds = ["assertions", "uploads", "sealing", "nats", "authority"] as const;
export type Kind = (typeof kinds)[number];

export const CERTIFICATE_DAYS = 365;

const KEY_BYTES = 32;

/**
 * The last completed step of a rotation. The first entry in a list of keys is in use; the others are only accepted. The
 * new key is second after `added`, first after `switched`, and the only one after `done`.
 */
type Step = "done" | "added" | "switched";

const sealingServices = ["workspaces", "state"];
const natsServices = ["access", "workspaces", "state"];

const assertionKey = async (now: Date) => {
  const { privateJwk, publicJwk } = await generateAssertionKey();
  return { createdAt: now.toISOString(), privateJwk, publicJwk };
};

const symmetricKey = (now: Date) => ({
  id: `k${now.toISOString().replaceAll(/\D/g, "").slice(0, 14)}${randomBytes(3).toString("hex")}`,
  createdAt: now.toISOString(),
  key: randomBytes(KEY_BYTES).toString("base64"),
});

const natsKey = (now: Date) => {
  const pair = nkeys.createUser();
  const seed = new TextDecoder().decode(pair.getSeed());
  return { createdAt: now.toISOString(), publicKey: pair.getPublicKey(), seed };
};

const eachOf = async <Value>(
  names: readonly string[],
  make: (name: string) => Promise<Value> | Value,
): Promise<Record<string, Value>> =>
  Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await make(name)] as const)),
  );

/** Creates all keys of a new installation. */
export async function newMaterial(runners: readonly string[], now: Date): Promise<unknown> {
  requireRunners(runners);
  const names = [...services, ...runners];
  const authority = await newAuthority(now);
  return {
    version: 1,
    assertions: await eachOf(names, async () => [await assertionKey(now)]),
    uploads: [symmetricKey(now)],
    sealing: await eachOf(sealingServices, () => [symmetricKey(now)]),
    nats: await eachOf(natsServices, () => [natsKey(now)]),
    authority: [authority],
    certificates: await eachOf(names, (name) =>
      issueCertificate(authority, name, { now, days: CERTIFICATE_DAYS }),
    ),
  };
}

/** Adds runners, each with a signing key and a certificate. */
export async function addRunners(
  material: Material,
  runners: readonly string[],
  now: Date,
): Promise<unknown> {
  requireRunners(runners);
  const known = runners.find((name) => name in material.assertions);
  if (known !== undefined) throw new StartError(`The runner ${known} already has keys.`);
  const [authority] = material.authority;
  if (!authority) throw new StartError("The file contains no authority.");
  return {
    ...material,
    assertions: {
      ...material.assertions,
      ...(await eachOf(runners, async () => [await assertionKey(now)])),
    },
    certificates: {
      ...material.certificates,
      ...(await eachOf(runners, (name) =>
        issueCertificate(authority, name, { now, days: CERTIFICATE_DAYS }),
      )),
    },
  };
}

/**
 * Adds a subscriber that may receive the events of `filter`, or changes the filter of an existing one. Throws
 * `StartError`.
 */
export function setSubscriber(
  material: Material,
  { name, filter }: { name: string; filter: string },
  now: Date,
): unknown {
  if (!isSubscriber(name)) {
    throw new StartError(
      "The name of a subscriber must begin with a lower-case letter and continue with lower-case letters, digits and hyphens. Its first part, before a hyphen, must not be 'runner' or the name of a service.",
    );
  }
  if (!/^statehouse(-mail)?(\.[A-Za-z0-9_*-]+)*\.[A-Za-z0-9_*>-]+$/.test(filter)) {
    throw new StartError(
      "The filter of a subscriber must be a subject that begins with 'statehouse.' or 'statehouse-mail.'.",
    );
  }
  const others = Object.entries(material.subscribers).filter(([other]) => other !== name);
  const sender = others.find(([, other]) => isMail(other.filter))?.[0];
  if (isMail(filter) && sender !== undefined) {
    throw new StartError(
      `The subscriber ${sender} already receives the mail, and the mail stream can have only one subscriber. Remove ${sender} first, with "keys subscriber FILE --name ${sender} --delete".`,
    );
  }
  return {
    ...material,
    nats: { ...material.nats, [name]: material.nats[name] ?? [natsKey(now)] },
    subscribers: { ...material.subscribers, [name]: { filter } },
  };
}

const isMail = (filter: string): boolean => filter.startsWith("statehouse-mail.");

/** Removes a subscriber. Throws `StartError`. */
export function removeSubscriber(material: Material, name: string): unknown {
  if (!(name in material.subscribers)) throw new StartError(`There is no subscriber ${name}.`);
  const { [name]: _keys, ...nats } = material.nats;
  const { [name]: _subscriber, ...subscribers } = material.subscribers;
  return { ...material, nats, subscribers };
}

function requireRunners(names: readonly string[]): void {
  const wrong = names.find((name) => !isRunner(name));
  if (wrong === undefined) return;
  throw new StartError(
    "The name of a runner must be 'runner', or begin with 'runner-' and continue with lower-case letters, digits and hyphens.",
  );
}

/** Returns the last completed step of the rotation of `kind`. */
export const stepOf = (material: Material, kind: Kind): Step => {
  const [list = []] = listsOf(material, kind);
  const [first, second] = list;
  if (!first || !second) return "done";
  return first.createdAt < second.createdAt ? "added" : "switched";
};

interface Entry {
  createdAt: string;
}

function listsOf(material: Material, kind: Kind): readonly (readonly Entry[])[] {
  const found = material[kind];
  return Array.isArray(found) ? [found] : Object.values(found);
}

/** Step 1: creates new keys, which are accepted but not used yet. */
export async function addKeys(material: Material, kind: Kind, now: Date): Promise<unknown> {
  requireStep(material, kind, "done");
  const makers: Record<Kind, () => Promise<Entry> | Entry> = {
    assertions: () => assertionKey(now),
    uploads: () => symmetricKey(now),
    sealing: () => symmetricKey(now),
    nats: () => natsKey(now),
    authority: () => newAuthority(now),
  };
  return await changed(material, kind, async (list) => [...list, await makers[kind]()]);
}

/** Step 2: uses the new keys; the previous ones are still accepted. */
export async function switchKeys(material: Material, kind: Kind, now: Date): Promise<unknown> {
  requireStep(material, kind, "added");
  const switched = await changed(material, kind, async (list) => list.toReversed());
  if (kind !== "authority") return switched;
  const [, authority] = material.authority;
  return authority
    ? { ...switched, ...(await certificatesOf(material, authority, now)) }
    : switched;
}

/** Step 3: removes the previous keys. */
export async function removeKeys(material: Material, kind: Kind): Promise<unknown> {
  requireStep(material, kind, "switched");
  return await changed(material, kind, async (list) => list.slice(0, 1));
}

/** Issues all certificates again. The previous ones are valid until they expire. */
export async function renewCertificates(
  material: Material,
  now: Date,
  days = CERTIFICATE_DAYS,
): Promise<unknown> {
  const [authority] = material.authority;
  return authority
    ? { ...material, ...(await certificatesOf(material, authority, now, days)) }
    : material;
}

const certificatesOf = async (
  { certificates }: Material,
  authority: Material["authority"][number],
  now: Date,
  days = CERTIFICATE_DAYS,
) => ({
  certificates: await eachOf(Object.keys(certificates), (name) =>
    issueCertificate(authority, name, { now, days }),
  ),
});

async function changed(
  material: Material,
  kind: Kind,
  change: (list: readonly Entry[]) => Promise<readonly Entry[]>,
): Promise<object> {
  const found = material[kind];
  const next = Array.isArray(found)
    ? await change(found)
    : Object.fromEntries(
        await Promise.all(
          Object.entries<readonly Entry[]>(found).map(
            async ([name, list]) => [name, await change(list)] as const,
          ),
        ),
      );
  return { ...material, [kind]: next };
}

const nextCommand: Record<Step, string> = {
  done: "add",
  added: "switch",
  switched: "remove",
};

function requireStep(material: Material, kind: Kind, step: Step): void {
  const found = stepOf(material, kind);
  if (found === step) return;
  throw new StartError(`The next step for ${kind} is "keys ${nextCommand[found]} ${kind}".`);
}
