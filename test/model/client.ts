import { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { request } from "undici";
import { partialUpload } from "../faults/partial-upload.ts";
import { type Answer, document, download, upload } from "../stack/http.ts";
import { announcement, inlineState, md5Of, rollbackTo } from "../stack/state.ts";
import type { Author, Command, CreateChoice, Pick } from "./command.ts";
import { jsonBytes, nameOf, rawBytes } from "./content.ts";
import type { Environment } from "./environment.ts";
import type { Client, Moment } from "./moment.ts";
import type { Received, Shown } from "./possible.ts";
import {
  type Action,
  act,
  create,
  forceUnlock,
  lock,
  putTo,
  download as read,
  refused,
  retain,
  rollBack,
  unlock,
} from "./rules.ts";
import type { Kind } from "./upload.ts";

/** The clients' knowledge of a workspace when they send a command. */
export interface Known {
  workspaceId: string;
  /** The client that holds the lock, in the first of the model's possible states. */
  holder: Client | undefined;
  shown: Shown;
  /** The upload URLs in the first document that showed them, keyed by the id of the state version. */
  urls: ReadonlyMap<string, Partial<Record<Kind, string>>>;
}

/** A command that is ready to run: its effect in the model, and the request to send. */
export interface Ready {
  says: string;
  start: Moment;
  send(): Promise<Received>;
}

/** The retention policy of these tests deletes data older than this number of days. */
const DAYS = 30;
const unknownId = "sv-0000000000000000";
const paths: Record<Action, string> = {
  softDelete: "soft_delete_backing_data",
  restore: "restore_backing_data",
  permanentlyDelete: "permanently_delete_backing_data",
};

const received = async (response: Promise<Answer>, withId = true): Promise<Received> => {
  const { status, body } = await response;
  return { status, ...(withId && status < 300 ? { id: body.data.id } : {}) };
};

/** Returns a command's first step in the model and its request; undefined for an upload whose URL is not known. */
export function ready(environment: Environment, known: Known, chosen: Command): Ready | undefined {
  const { clients, intruder, hosted } = environment;
  const command = authored(chosen, known.holder);
  const { workspaceId, shown, urls } = known;
  const pick = ({ like, nth }: Pick) => {
    const { versions } = shown;
    const alike = versions.filter(({ status }) => like === "any" || status.includes(like));
    const among = alike.length > 0 ? alike : versions;
    return among[among.length - 1 - (nth % Math.max(1, among.length))];
  };
  const says = (id?: string) => JSON.stringify({ ...command, ...(id ? { id } : {}) });
  const at = `/workspaces/${workspaceId}`;
  switch (command.do) {
    case "lock":
    case "unlock":
    case "forceUnlock": {
      const { by } = command;
      const [start, path] = {
        lock: [lock(by), "lock"] as const,
        unlock: [unlock(by), "unlock"] as const,
        forceUnlock: [forceUnlock(), "force-unlock"] as const,
      }[command.do];
      const send = () => received(clients[by].api.post(`${at}/actions/${path}`), false);
      return { says: says(), start, send };
    }
    case "create":
      return { says: says(), ...creation(environment, known, command.by, command) };
    case "upload": {
      const version = pick(command.of);
      const url = version && urls.get(version.id)?.[command.kind];
      if (!url) return undefined;
      const { kind, bytes } = command;
      const other = kind === "json" ? jsonBytes(2) : rawBytes(version.serial, version.lineage, 2);
      const right = kind === "json" ? jsonBytes(1) : announcedBytes(version.content);
      const content = bytes === "wrong" ? other : right;
      if (bytes === "partial") {
        return { says: says(version.id), start: refused(0), send: () => half(url, content.bytes) };
      }
      const send = () =>
        bytes === "slow" ? slowly(url, content.bytes) : received(upload(url, content.bytes), false);
      return { says: says(version.id), start: putTo(version.id, kind, content.name), send };
    }
    case "rollBack": {
      const id = pick(command.to)?.id ?? unknownId;
      const send = () =>
        received(clients[command.by].api.patch(`${at}/state-versions`, rollbackTo(id)));
      return { says: says(id), start: rollBack(command.by, id), send };
    }
    case "softDelete":
    case "restore":
    case "permanentlyDelete": {
      const id = pick(command.of)?.id ?? unknownId;
      const path = `/state-versions/${id}/actions/${paths[command.do]}`;
      const start = hosted ? refused(404) : act(command.do, id);
      return { says: says(id), start, send: () => received(clients[command.by].api.post(path)) };
    }
    case "retain": {
      const { by, deletesOld } = command;
      const path = `${at}/relationships/data-retention-policy`;
      const body = deletesOld
        ? document("data-retention-policy-delete-olders", { "delete-older-than-n-days": DAYS })
        : document("data-retention-policy-dont-deletes", {});
      const start = hosted ? refused(404) : retain(deletesOld);
      return { says: says(), start, send: () => received(clients[by].api.post(path, body), false) };
    }
    case "download": {
      const id = pick(command.of)?.id ?? unknownId;
      const { kind } = command;
      return { says: says(id), start: read(id, kind), send: () => fetched(environment, id, kind) };
    }
    case "intrude": {
      const id = pick(command.of)?.id ?? unknownId;
      const attempts = [
        () => intruder.api.get(`/state-versions/${id}`),
        () => intruder.api.post(`${at}/actions/lock`),
        () => intruder.api.patch(`${at}/state-versions`, rollbackTo(id)),
        () => intruder.api.post(`/state-versions/${id}/actions/${paths.softDelete}`),
        () => download(address(environment, id, "raw"), intruder.token),
      ];
      const send = async () => {
        const answers = await Promise.all(attempts.map((attempt) => attempt()));
        return { status: Math.max(...answers.map(({ status }) => (status === 404 ? 0 : status))) };
      };
      return { says: says(id), start: refused(0), send };
    }
  }
}

type Authored =
  | Exclude<Command, { by: Author }>
  | (Extract<Command, { by: Author }> & { by: Client });

function authored(command: Command, holder: Client | undefined): Authored {
  if (!("by" in command) || command.by !== "holder") return command as Authored;
  const writes = command.do === "create" || command.do === "rollBack";
  if (holder === undefined && writes) return { do: "lock", by: 0 };
  return { ...command, by: holder ?? 0 };
}

const address = ({ publicUrl }: Environment, id: string, kind: Kind): string =>
  `${publicUrl}/v1/object/${id}${kind === "json" ? "/json" : ""}`;

/**
 * Downloads the raw state or the JSON form of a state version. Returns the status and, after a success, the name that
 * the model gives to the received bytes.
 */
export async function fetched(environment: Environment, id: string, kind: Kind): Promise<Received> {
  const { status, bytes } = await download(
    address(environment, id, kind),
    environment.clients[0].token,
  );
  return { status, ...(status === 200 ? { bytes: nameOf(md5Of(bytes)) } : {}) };
}

/** Delay in ms before the second half of a slow upload; other commands run during it. */
const PAUSE_MS = 80;

/** Uploads half of the bytes, and the rest after a delay. */
async function slowly(url: string, bytes: Buffer): Promise<Received> {
  const half = bytes.length >> 1;
  const body = async function* () {
    yield bytes.subarray(0, half);
    await wait(PAUSE_MS);
    yield bytes.subarray(half);
  };
  const answer = await request(url, {
    method: "PUT",
    headers: { "content-length": String(bytes.length) },
    body: Readable.from(body()),
  });
  await answer.body.dump();
  return { status: answer.statusCode };
}

/** Uploads half of the bytes and then closes the connection. */
async function half(url: string, bytes: Buffer): Promise<Received> {
  await using _ = partialUpload(url, bytes, bytes.length >> 1);
  await wait(5);
  return { status: 0 };
}

const lineages = { other: "other", none: "" } as const;

function announcedBytes(name: string) {
  const [, serial = "0", lineage = "", variant = "0"] = /^raw (\d+) (\S*) (\d)$/.exec(name) ?? [];
  return rawBytes(Number(serial), lineage, Number(variant));
}

function creation(
  environment: Environment,
  { workspaceId, shown }: Known,
  by: Client,
  choice: CreateChoice,
): Omit<Ready, "says"> {
  const newest = shown.versions.at(-1);
  const serial = Math.max(0, (newest?.serial ?? 0) + choice.serial);
  const lineage = choice.lineage === "same" ? (newest?.lineage ?? "own") : lineages[choice.lineage];
  const { name, bytes } = rawBytes(serial, lineage, choice.variant);
  const json = choice.json && choice.inline ? jsonBytes(1) : undefined;
  const { force, inline } = choice;
  const file = { serial, lineage, bytes, md5: md5Of(bytes) };
  const more = { force, ...(json ? { "json-state": json.bytes.toString("base64") } : {}) };
  const body = inline ? inlineState(file, more) : announcement(file, more);
  const snapshot = environment.hosted && !inline;
  return {
    start: create(by, {
      serial,
      lineage,
      content: name,
      force,
      inline,
      json: json?.name,
      snapshot,
    }),
    send: () =>
      received(environment.clients[by].api.post(`/workspaces/${workspaceId}/state-versions`, body)),
  };
}
