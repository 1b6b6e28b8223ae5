import type { Answer, Moment } from "./moment.ts";
import { byItself, currentOf, type State, withVersion } from "./state.ts";

/** A response as a client received it. */
export interface Heard {
  status: number;
  id?: string | undefined;
  bytes?: string | undefined;
}

/** A command that was sent, and its response; undefined if there was none. */
export interface Sent {
  start: Moment;
  heard: Heard | undefined;
  /**
   * Whether a fault occurred: any part of the command may have been executed, and the service may have retried it.
   */
  disturbed: boolean;
}

/** Maximum number of retries by a service itself. */
const RETRIES = 2;

interface Stage {
  /** Undefined once the command has ended. */
  moment: Moment | undefined;
  retries: number;
}

interface Node {
  state: State;
  stages: readonly Stage[];
}

/**
 * The possible states of the workspace after these concurrent commands and their responses. Every order of their
 * steps is tried; the result is empty if no order explains the responses.
 */
export function outcomes(states: readonly State[], sent: readonly Sent[]): State[] {
  const stages = sent.map(({ start }) => ({ moment: start, retries: 0 }));
  const open: Node[] = states.map((state) => ({ state, stages }));
  const seen = new Set<string>();
  const found = new Map<string, State>();
  for (let node = open.pop(); node; node = open.pop()) {
    const key = JSON.stringify([
      node.state,
      node.stages.map(({ moment, retries }) => [moment?.key ?? null, retries]),
    ]);
    if (seen.has(key)) continue;
    seen.add(key);
    if (node.stages.every(({ moment }) => !moment))
      found.set(JSON.stringify(node.state), node.state);
    const { state, stages: at } = node;
    for (const changed of byItself(state)) open.push({ state: changed, stages: at });
    for (const [index, { moment, retries }] of at.entries()) {
      const command = sent[index];
      if (!moment || !command) continue;
      const go = (next: Stage, now: State) =>
        open.push({ state: now, stages: at.with(index, next) });
      if (command.disturbed) {
        if (!command.heard) go({ moment: undefined, retries }, state);
        if (retries < RETRIES) go({ moment: command.start, retries: retries + 1 }, state);
      }
      const progress = moment.run(state);
      if ("next" in progress) go({ moment: progress.next, retries }, progress.state);
      else {
        const fitting = fitted(progress.state, progress.answer, command.heard);
        if (fitting) go({ moment: undefined, retries }, fitting);
      }
    }
  }
  return [...found.values()];
}

/** The state, if the response agrees with it, with the id of the version. */
function fitted(state: State, answer: Answer, heard: Heard | undefined): State | undefined {
  if (!heard) return state;
  if (answer.status !== heard.status || answer.bytes !== heard.bytes) return undefined;
  return answer.version === undefined || heard.id === undefined
    ? state
    : identify(state, answer.version, heard.id);
}

function identify(state: State, index: number, id: string): State | undefined {
  const known = state.versions.findIndex((version) => version.id === id);
  if (known >= 0) return known === index ? state : undefined;
  return state.versions[index]?.id === null ? withVersion(state, index, { id }) : undefined;
}

/** A workspace as its documents show it. */
export interface Shown {
  /** The holder of the lock; null if it is free, omitted if it was not read. */
  holder?: number | null;
  current?: string | null;
  /** In the order of creation. */
  versions: readonly ShownVersion[];
}

export interface ShownVersion {
  id: string;
  serial: number;
  lineage: string;
  content: string;
  status: string;
  intermediate: boolean;
  copyOf: string | null;
  /** The upload and download URLs that are shown. */
  urls: { raw: boolean; json: boolean; rawUpload: boolean; jsonUpload: boolean };
}

/** The states that agree with this document, with the ids in it. */
export function thatShow(states: readonly State[], shown: Shown): State[] {
  const found = new Map<string, State>();
  const open = [...states];
  const seen = new Set<string>();
  for (let state = open.pop(); state; state = open.pop()) {
    const key = JSON.stringify(state);
    if (seen.has(key)) continue;
    seen.add(key);
    open.push(...byItself(state));
    const identified = shown.versions.reduce<State | undefined>(
      (known, { id }, index) => known && identify(known, index, id),
      state.versions.length === shown.versions.length ? state : undefined,
    );
    if (
      identified &&
      JSON.stringify({ ...look(identified), ...shown }) === JSON.stringify(look(identified))
    ) {
      found.set(JSON.stringify(identified), identified);
    }
  }
  return [...found.values()];
}

/** The document of a state. */
export function look(state: State): Shown {
  return {
    holder: state.lock?.holder ?? null,
    current: state.versions[currentOf(state)]?.id ?? null,
    versions: state.versions.map((version) => {
      const { id, serial, lineage, content, status, intermediate, copyOf, open, json } = version;
      const pending = status === "pending" && open;
      const finalized = status === "finalized";
      const urls = {
        raw: finalized,
        json: finalized && json !== null,
        rawUpload: pending,
        jsonUpload: json === null && (pending || (finalized && open)),
      };
      return { id: id ?? "", serial, lineage, content, status, intermediate, copyOf, urls };
    }),
  };
}
