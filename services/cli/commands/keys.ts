import { existsSync } from "node:fs";
import { StartError, writePrivately } from "@statehouse/runtime";
import { type Material, readMaterial } from "../keys/material.ts";
import { environmentLines, manifests, writeFiles } from "../keys/output.ts";
import {
  addRunners,
  CERTIFICATE_DAYS,
  type Kind,
  kinds,
  newMaterial,
  nextStepOf,
  removeSubscriber,
  renewCertificates,
  rotate,
  setSubscriber,
  steps,
} from "../keys/rotation.ts";
import { holders } from "../keys/settings.ts";
import { parsedArguments } from "./arguments.ts";

type Print = (line: string) => void;

export const keysHelp = [
  "FILE contains all keys of the installation as JSON. Keep it where only operators can read it.",
  "",
  "  keys new FILE [--runner NAME]…    creates all keys",
  "  keys runner FILE --runner NAME…   adds runners",
  "  keys subscriber FILE --name=NAME  adds a subscriber to events, or changes what it may receive:",
  "    --organization ID               the events of one organization (its external-id)",
  "    --filter FILTER                 the events whose subjects match, for example statehouse.>",
  "    --mail                          the invitations that the mail sender sends",
  "    --delete                        removes the subscriber",
  "  keys list FILE                    shows kinds, ids and dates, and the next step of each rotation",
  "  keys add KIND FILE                step 1 of a rotation: a new key, which is accepted and not used yet",
  "  keys switch KIND FILE             step 2: the new key is used, the previous one still accepted",
  "  keys remove KIND FILE             step 3: the previous key is removed",
  `  keys renew FILE [--days N]        issues all certificates again, for N days (default ${CERTIFICATE_DAYS})`,
  "  keys print FILE --format …        prints what services, runners and subscribers receive, each only its own keys:",
  "    env --service NAME              lines for an environment file",
  "    files --to FOLDER               writes a folder for each service, with a file for each setting",
  "    kubernetes                      manifests of Secrets; --prefix (statehouse), --namespace",
  "    --service NAME                  only for this service, runner or subscriber",
  "",
  `KIND is one of ${kinds.join(", ")}.`,
  "docs/keys.md has the order of steps and what to wait for between them.",
];

/** Creates, rotates and prints the keys of an installation. Throws `StartError`. */
export async function runKeys(args: readonly string[], print: Print): Promise<void> {
  const { values, positionals } = parsed(args);
  const [action, ...rest] = positionals;
  if (action === undefined) {
    for (const line of keysHelp) print(line);
    return;
  }
  const now = new Date();
  const runners = values.runner ?? [];
  if (action === "new") {
    const file = only(rest);
    requireAbsent(file);
    return await save(file, await newMaterial(runners, now));
  }
  const step = steps.find((known) => known === action);
  if (step) {
    const [name = "", ...files] = rest;
    const kind = kindOf(name);
    const file = only(files);
    return await save(file, await rotate(await readMaterial(file), kind, step, now));
  }
  const file = only(rest);
  const changes: Readonly<Record<string, (material: Material) => unknown>> = {
    runner: (material) => addRunners(material, runners, now),
    subscriber: (material) => withSubscriber(material, values, now),
    renew: (material) => renewCertificates(material, now, values.days),
  };
  const change = Object.hasOwn(changes, action) ? changes[action] : undefined;
  if (change) return await save(file, await change(await readMaterial(file)));
  if (action === "list") return list(await readMaterial(file), print);
  if (action === "print") return await printKeys(await readMaterial(file), values, print);
  throw new StartError(
    `Action '${action}' is unknown; expected one of new, runner, subscriber, list, add, switch, remove, renew, print.`,
  );
}

function parsed(args: readonly string[]) {
  const { values, positionals } = parsedArguments(args, {
    runner: { type: "string", multiple: true },
    name: { type: "string" },
    organization: { type: "string" },
    filter: { type: "string" },
    mail: { type: "boolean" },
    delete: { type: "boolean" },
    days: { type: "string" },
    format: { type: "string" },
    service: { type: "string" },
    to: { type: "string" },
    prefix: { type: "string", default: "statehouse" },
    namespace: { type: "string" },
  });
  const days = values.days === undefined ? CERTIFICATE_DAYS : Number(values.days);
  if (!Number.isInteger(days) || days < 1 || days > 3650) {
    throw new StartError("--days must be a whole number from 1 to 3650.");
  }
  return { values: { ...values, days }, positionals };
}

type Options = ReturnType<typeof parsed>["values"];

function withSubscriber(material: Material, options: Options, now: Date): unknown {
  const { name = "", organization, filter } = options;
  if (options.delete) return removeSubscriber(material, name);
  const filters = [
    ...(organization === undefined ? [] : [`statehouse.*.*.*.*.${organization}`]),
    ...(filter === undefined ? [] : [filter]),
    ...(options.mail ? ["statehouse-mail.>"] : []),
  ];
  const [granted] = filters;
  if (granted === undefined || filters.length > 1) {
    throw new StartError("Exactly one of --organization, --filter and --mail is required.");
  }
  return setSubscriber(material, { name, filter: granted }, now);
}

function only(files: readonly string[]): string {
  const [file, ...more] = files;
  if (file !== undefined && more.length === 0) return file;
  throw new StartError("The file with the keys is required as the last argument.");
}

function kindOf(name: string): Kind {
  const kind = kinds.find((known) => known === name);
  if (kind) return kind;
  throw new StartError(`Kind '${name}' is unknown; expected one of ${kinds.join(", ")}.`);
}

/** Throws `StartError` if the file exists: values encrypted with its keys could not be decrypted without them. */
function requireAbsent(file: string): void {
  if (existsSync(file))
    throw new StartError(`The file ${file} already exists; "keys new" does not replace files.`);
}

const save = (file: string, material: unknown): Promise<void> =>
  writePrivately(file, `${JSON.stringify(material, null, 2)}\n`);

function list(material: Material, print: Print): void {
  for (const kind of kinds) print(`${kind}: next step ${nextStepOf(material, kind)}`);
  for (const [name, keys] of Object.entries(material.assertions)) {
    for (const { createdAt, publicJwk } of keys)
      print(`assertions ${name} ${publicJwk.kid} ${createdAt}`);
  }
  for (const { id, createdAt } of material.uploads) print(`uploads ${id} ${createdAt}`);
  for (const [name, keys] of Object.entries(material.sealing)) {
    for (const { id, createdAt } of keys) print(`sealing ${name} ${id} ${createdAt}`);
  }
  for (const [name, keys] of Object.entries(material.nats)) {
    for (const { publicKey, createdAt } of keys) print(`nats ${name} ${publicKey} ${createdAt}`);
  }
  for (const [name, { filter }] of Object.entries(material.subscribers)) {
    print(`subscriber ${name} ${filter}`);
  }
  for (const { createdAt } of material.authority) print(`authority ${createdAt}`);
  for (const [name, { createdAt }] of Object.entries(material.certificates)) {
    print(`certificate ${name} ${createdAt}`);
  }
}

async function printKeys(material: Material, options: Options, print: Print): Promise<void> {
  const { format, service, to, prefix, namespace } = options;
  const known = holders(material);
  if (service !== undefined && !known.includes(service)) {
    throw new StartError(`Service '${service}' has no keys; expected one of ${known.join(", ")}.`);
  }
  const names = service === undefined ? known : [service];
  if (format === "env") {
    if (service === undefined) throw new StartError("--service is required with --format env.");
    for (const line of environmentLines(material, service)) print(line);
  } else if (format === "files") {
    if (to === undefined) throw new StartError("--to is required with --format files.");
    await writeFiles(material, to, names);
  } else if (format === "kubernetes") {
    print(manifests(material, names, { prefix, namespace }).trimEnd());
  } else throw new StartError("--format must be one of env, files, kubernetes.");
}
