import { readFile } from "node:fs/promises";
import { hasCode } from "@statehouse/errors";
import { StartError } from "@statehouse/runtime";
import { z } from "zod";

// All keys of one installation. In every list, the first entry is in use, and the others are only accepted.

const createdAt = z.iso.datetime();
const ring = z.array(z.object({ id: z.string(), createdAt, key: z.base64() })).min(1);
const keyPair = z.looseObject({ kty: z.literal("OKP"), x: z.string(), kid: z.string() });
const certificate = z.object({ createdAt, certificate: z.string(), privateKey: z.string() });

const materialSchema = z.object({
  version: z.literal(1),
  /** Key pairs with which services and runners sign their calls, by name. */
  assertions: z.record(
    z.string(),
    z
      .array(
        z.object({
          createdAt,
          privateJwk: keyPair.extend({ d: z.string() }),
          publicJwk: keyPair,
        }),
      )
      .min(1),
  ),
  /** Keys that sign upload URLs. */
  uploads: ring,
  /** Keys that encrypt columns, by service. */
  sealing: z.record(z.string(), ring),
  /** NATS nkeys, by service or subscriber. */
  nats: z.record(
    z.string(),
    z.array(z.object({ createdAt, publicKey: z.string(), seed: z.string() })).min(1),
  ),
  /** Subscribers to events, by the name of their durable consumer. */
  subscribers: z.record(z.string(), z.object({ filter: z.string() })).default({}),
  /** Authorities that issue the certificates of services and runners. */
  authority: z.array(certificate).min(1),
  /** Certificates of services and runners, by name, issued by the first authority. */
  certificates: z.record(z.string(), certificate),
});

/** All keys of one installation. */
export type Material = z.infer<typeof materialSchema>;

/** A subscriber, with the subjects that it may receive. */
export type Subscriber = Material["subscribers"][string];

/** The services of an installation. */
export const services = ["access", "workspaces", "state", "gateway"] as const;

/** Returns whether services accept `name` as the name of a runner. */
export const isRunner = (name: string): boolean => /^runner(-[a-z0-9-]+)?$/.test(name);

/**
 * Returns whether `name` may be the name of a subscriber. Its first part, before a hyphen, must not be `runner` or the
 * name of a service, because the names of the services' durable consumers begin with such a part.
 */
export const isSubscriber = (name: string): boolean =>
  /^[a-z][a-z0-9-]*$/.test(name) && ![...services, "runner"].includes(name.split("-")[0] ?? "");

/** Reads all keys of an installation from a file. Throws `StartError`, whose message never contains a key. */
export async function readMaterial(file: string): Promise<Material> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    const reason = hasCode(error, "ENOENT")
      ? "does not exist; create it with keys new"
      : "cannot be read";
    throw new StartError(`The file ${file} ${reason}.`);
  });
  const parsed = materialSchema.safeParse(fromJson(text));
  if (parsed.success) return parsed.data;
  const places = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new StartError([`The file ${file} is not a valid file of keys:`, ...places].join("\n"));
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
