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
 * The steps of a rotation. The first entry in a list of keys is in use; the others are only accepted. The new key is
 * second after `add`, first after `switch`, and the only one after `remove`.
 */
export const steps = ["add", "switch", "remove"] as const;
type Step = (typeof steps)[number];

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

/** Issues certificates of the authority in use. */
async function certificatesFor(
  names: readonly string[],
  { authority: [authority] }: Pick<Material, "authority">,
  now: Date,
  days = CERTIFICATE_DAYS,
): Promise<Material["certificates"]> {
  if (!authority) throw new StartError("The file contains no authority.");
  return await eachOf(names, (name) => issueCertificate(authority, name, { now, days }));
}

/** Creates all keys of a new installation. */
export async function newMaterial(runners: readonly string[], now: Date): Promise<unknown> {
  requireRunners(runners);
  const names = [...services, ...runners];
  const authority = [await newAuthority(now)];
  return {
    version: 1,
    assertions: await eachOf(names, async () => [await assertionKey(now)]),
    uploads: [symmetricKey(now)],
    sealing: await eachOf(sealingServices, () => [symmetricKey(now)]),
    nats: await eachOf(natsServices, () => [natsKey(now)]),
    authority,
    certificates: await certificatesFor(names, { authority }, now),
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
  return {
    ...material,
    assertions: {
      ...material.assertions,
      ...(await eachOf(runners, async () => [await assertionKey(now)])),
    },
    certificates: {
      ...material.certificates,
      ...(await certificatesFor(runners, material, now)),
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

/** Returns the next step of the rotation of `kind`. */
export function nextStepOf(material: Material, kind: Kind): Step {
  const found = material[kind];
  const [list] = Array.isArray(found) ? [found] : Object.values(found);
  const [first, second] = list ?? [];
  if (!first || !second) return "add";
  return first.createdAt < second.createdAt ? "switch" : "remove";
}

interface Entry {
  createdAt: string;
}

const makers: Record<Kind, (now: Date) => Promise<Entry> | Entry> = {
  assertions: assertionKey,
  uploads: symmetricKey,
  sealing: symmetricKey,
  nats: natsKey,
  authority: newAuthority,
};

/** Takes a step of the rotation of `kind`. Throws `StartError` if it is not the next step. */
export async function rotate(
  material: Material,
  kind: Kind,
  step: Step,
  now: Date,
): Promise<unknown> {
  const next = nextStepOf(material, kind);
  if (step !== next) throw new StartError(`The next step for ${kind} is "keys ${next} ${kind}".`);
  const changes: Record<Step, (list: readonly Entry[]) => Promise<readonly Entry[]>> = {
    add: async (list) => [...list, await makers[kind](now)],
    switch: async (list) => list.toReversed(),
    remove: async (list) => list.slice(0, 1),
  };
  if (kind === "authority" && step === "switch") {
    return await renewCertificates(
      { ...material, authority: material.authority.toReversed() },
      now,
    );
  }
  return { ...material, [kind]: await changed(material[kind], changes[step]) };
}

const changed = async (
  keys: Material[Kind],
  change: (list: readonly Entry[]) => Promise<readonly Entry[]>,
) =>
  Array.isArray(keys)
    ? await change(keys)
    : Object.fromEntries(
        await Promise.all(
          Object.entries<readonly Entry[]>(keys).map(
            async ([name, list]) => [name, await change(list)] as const,
          ),
        ),
      );

/** Issues all certificates again. The previous ones are valid until they expire. */
export const renewCertificates = async (
  material: Material,
  now: Date,
  days?: number,
): Promise<unknown> => ({
  ...material,
  certificates: await certificatesFor(Object.keys(material.certificates), material, now, days),
});
