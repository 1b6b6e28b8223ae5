import type { Answer, Moment } from "./moment.ts";
import { byItself, currentOf, type State, withVersion } from "./state.ts";

/** A response as a client received it. */
export interface Received {
  status: number;
  id?: string | undefined;
  bytes?: string | undefined;
}

/** A command that was sent, with its response, which is undefined if it was a 5xx or if no response arrived. */
export interface Sent {
  start: Moment;
  received: Received | undefined;
  /**
   * Whether a fault occurred during the command. A service may then have repeated the command. Without a response, any
   * part of the command may have been executed.
   */
  disturbed: boolean;
}

/** The largest number of times that a service repeats a call. */
const RETRIES = 2;

interface Stage {
  /** The next step; undefined after the command has ended. */
  moment: Moment | undefined;
  retries: number;
}

interface Node {
  state: State;
  stages: readonly Stage[];
}

/**
 * Returns the states in which the workspace can be after these concurrent commands and their responses. Tries every
 * order of the commands' steps. The result is empty if no order explains the responses.
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
        if (!command.received) go({ moment: undefined, retries }, state);
        if (retries < RETRIES) go({ moment: command.start, retries: retries + 1 }, state);
      }
      const progress = moment.run(state);
      if ("next" in progress) go({ moment: progress.next, retries }, progress.state);
      else {
        const fitting = fitted(progress.state, progress.answer, command.received);
        if (fitting) go({ moment: undefined, retries }, fitting);
      }
    }
  }
  return [...found.values()];
}

/**
 * Compares the received response with the model's response. If they agree, returns the state, with the received id
 * recorded for the state version in the response; otherwise undefined. Without a response, returns the state unchanged.
 */
function fitted(state: State, answer: Answer, received: Received | undefined): State | undefined {
  if (!received) return state;
  if (answer.status !== received.status || answer.bytes !== received.bytes) return undefined;
  return answer.version === undefined || received.id === undefined
    ? state
    : identify(state, answer.version, received.id);
}

function identify(state: State, index: number, id: string): State | undefined {
  const known = state.versions.findIndex((version) => version.id === id);
  if (known >= 0) return known === index ? state : undefined;
  return state.versions[index]?.id === null ? withVersion(state, index, { id }) : undefined;
}

/** The values that the documents of a workspace show. */
export interface Shown {
  /** The holder of the lock; null if the workspace is not locked, undefined if the holder was not read. */
  holder?: number | null;
  current?: string | null;
  /** The versions in the order of their creation. */
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
  /** Which upload and download URLs the document shows. */
  urls: { raw: boolean; json: boolean; rawUpload: boolean; jsonUpload: boolean };
}

/**
 * Returns those of the given states, and of the states that can follow from them without a command, that agree with the
 * documents in `shown`. Adds the ids in the documents to the returned states.
 */
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

/** Returns what the documents of a workspace in this state would show. */
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
