import { setTimeout as wait } from "node:timers/promises";
import type { Api } from "../stack/http.ts";
import { expectStatus } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import { fetched, type Known, type Ready, ready } from "./client.ts";
import { nameOf } from "./content.ts";
import type { Environment } from "./environment.ts";
import {
  look,
  outcomes,
  type Received,
  type Sent,
  type Shown,
  type ShownVersion,
  thatShow,
} from "./possible.ts";
import { download, pass, type Time } from "./rules.ts";
import { empty, type State } from "./state.ts";
import type { Fault, History, Step } from "./step.ts";
import type { Kind } from "./upload.ts";

/** Causes a fault while `during` runs, and then removes the fault. Resolves when no transaction is in progress. */
export type Disturb = (fault: Fault, afterMs: number, during: () => Promise<void>) => Promise<void>;

type Urls = Map<string, Partial<Record<Kind, string>>>;

/**
 * Runs a history on a new workspace. Throws an error with all requests and responses if the model does not allow the
 * result.
 */
export async function live(
  environment: Environment,
  history: History,
  disturb?: Disturb,
): Promise<void> {
  const [owner] = environment.clients;
  const workspace = await newWorkspaceIn(owner.api, environment.organization);
  const where = { id: workspace.id as string, name: workspace.attributes.name as string };
  const urls: Urls = new Map();
  const log: string[] = [];
  let states: State[] = [empty];
  let shown: Shown = look(empty);
  const fail = (what: string): never => {
    const last = states.map((state) => JSON.stringify(look(state))).join("\n  or ");
    throw new Error(
      `${where.id}: ${what}\n${log.join("\n")}\nbefore that, the workspace was ${last}`,
    );
  };
  const next = (possible: State[], what: string) => {
    if (possible.length === 0) fail(what);
    states = possible;
  };
  for (const [index, step] of history.entries()) {
    const holder = states[0]?.lock?.holder;
    const known: Known = { workspaceId: where.id, holder, shown, urls };
    const sent = await take(environment, known, step, log, disturb);
    next(outcomes(states, sent), "no order of the commands explains the responses");
    // Not every document is read after each step, because reading takes as long as a command.
    const isLast = index === history.length - 1;
    shown = await seen(environment, where, urls, {
      lock: isLast || locks(step),
      current: isLast || index % 2 === 0,
    });
    log.push(`  shows ${JSON.stringify(shown)}`);
    next(thatShow(states, shown), "after these responses, the workspace cannot look like this");
  }
  for (const { id } of shown.versions) {
    for (const kind of ["raw", "json"] as const) {
      const received = await fetched(environment, id, kind);
      log.push(`download of ${kind} ${id}: ${JSON.stringify(received)}`);
      const sent = { start: download(id, kind), received, disturbed: false };
      next(outcomes(states, [sent]), "the model does not allow this response");
    }
  }
  // About half of the workspaces are deleted; the rows of the others are checked after all histories.
  if (history.length % 2 === 0) {
    await expectStatus(204, owner.api.delete(`/workspaces/${where.id}`));
    const last = shown.versions.at(-1);
    const left = last && (await fetched(environment, last.id, "raw")).status;
    if (last && left !== 404) fail(`download after the workspace's deletion: ${left}`);
  }
  environment.count.histories++;
}

/** Runs a step; returns its commands with their responses. */
async function take(
  environment: Environment,
  known: Known,
  step: Step,
  log: string[],
  disturb: Disturb | undefined,
): Promise<Sent[]> {
  if ("pass" in step) {
    log.push(`pass ${step.pass}`);
    if (step.pass === "collection") {
      await wait(COLLECTION_MS);
      return [];
    }
    await environment.query(times[step.pass], [known.workspaceId]);
    return [{ start: pass(step.pass), received: { status: 200 }, disturbed: false }];
  }
  const { fault, faultMs = 0 } = step;
  const disturbed = fault !== undefined;
  const sent: Sent[] = [];
  const act = async ({ says, start, send }: Ready, afterMs: number) => {
    await wait(afterMs);
    environment.count.commands++;
    const received = disturbed ? await perhaps(send) : await send();
    log.push(`${says}: ${received ? JSON.stringify(received) : "no answer"}`);
    sent.push({ start, received, disturbed });
  };
  const all = step.commands.flatMap(({ command, afterMs }) => {
    const prepared = ready(environment, known, command);
    return prepared ? [() => act(prepared, afterMs)] : [];
  });
  const during = async () => void (await Promise.all(all.map((run) => run())));
  log.push(disturbed ? `${fault} after ${faultMs} ms, and` : "and");
  if (fault && disturb) await disturb(fault, faultMs, during);
  else await during();
  return sent;
}

/**
 * Returns the response if it determines the result; undefined after a 5xx or without a response, because the result is
 * then unknown.
 */
async function perhaps(send: () => Promise<Received>): Promise<Received | undefined> {
  try {
    const received = await send();
    return received.status >= 500 ? undefined : received;
  } catch {
    return undefined;
  }
}

/** A time in ms that is slightly longer than the collector's interval in these stacks. */
const COLLECTION_MS = 1_300;

const times: Record<Time, string> = {
  window: `update state_versions set expires_at = now() - interval '1 second'
    where workspace_id = $1 and status = 'pending'`,
  days: `update state_versions set soft_deleted_at = now() - interval '400 days'
    where workspace_id = $1 and status = 'backing_data_soft_deleted'`,
  years: `update state_versions set created_at = created_at - interval '400 days'
    where workspace_id = $1`,
};

const locks = (step: Step): boolean =>
  "commands" in step &&
  (step.fault !== undefined || step.commands.some(({ command }) => /lock/i.test(command.do)));

/** Reads the documents of the workspace and of its state versions as the owner. */
async function seen(
  environment: Environment,
  { id, name }: { id: string; name: string },
  urls: Urls,
  looks: { lock: boolean; current: boolean },
): Promise<Shown> {
  const { clients, organization } = environment;
  const api: Api = clients[0].api;
  const filter = `filter[organization][name]=${organization}&filter[workspace][name]=${name}`;
  const [workspace, current, list] = await Promise.all([
    looks.lock ? expectStatus(200, api.get(`/workspaces/${id}`)) : undefined,
    looks.current ? api.get(`/workspaces/${id}/current-state-version`) : undefined,
    expectStatus(200, api.get(`/state-versions?${filter}&page[size]=100`)),
  ]);
  const versions: ShownVersion[] = list.body.data
    .toReversed()
    .map(({ id: versionId, attributes: its, relationships: of }: Document) => {
      remember(urls, versionId, its);
      const there = (url: unknown) => url !== null;
      return {
        id: versionId,
        serial: its.serial,
        lineage: its.lineage,
        content: nameOf(String(its.md5)),
        status: its.status,
        intermediate: its.intermediate,
        copyOf: of["rollback-state-version"]?.data?.id ?? null,
        urls: {
          raw: there(its["hosted-state-download-url"]),
          json: there(its["hosted-json-state-download-url"]),
          rawUpload: there(its["hosted-state-upload-url"]),
          jsonUpload: there(its["hosted-json-state-upload-url"]),
        },
      };
    });
  return {
    ...(workspace ? { holder: holderOf(environment, workspace.body.data) } : {}),
    ...(current ? { current: current.status === 404 ? null : current.body.data.id } : {}),
    versions,
  };
}

function holderOf(
  { clients }: Environment,
  {
    attributes,
    relationships,
  }: { attributes: { locked: boolean } } & Pick<Document, "relationships">,
): number | null {
  if (!attributes.locked) return null;
  const id = relationships["locked-by"]?.data?.id;
  return clients.findIndex((client) => client.id === id);
}

interface Document {
  id: string;
  attributes: Record<string, never>;
  relationships: Record<string, { data: { id: string } | null }>;
}

function remember(urls: Urls, id: string, attributes: Record<string, string | null>): void {
  const raw = attributes["hosted-state-upload-url"];
  const json = attributes["hosted-json-state-upload-url"];
  urls.set(id, { ...(raw ? { raw } : {}), ...(json ? { json } : {}), ...urls.get(id) });
}
