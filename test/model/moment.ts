import type { State } from "./state.ts";

export type Client = 0 | 1;

/** What a command is answered: a status, and what it tells. */
export interface Answer {
  status: number;
  /** The version in the document, by its place. */
  version?: number;
  /** Name of the bytes. */
  bytes?: string;
}

/** What happens at once, between which other clients may come. `key` tells moments of one command apart. */
export interface Moment {
  key: string;
  run(state: State): Progress;
}

export type Progress = { state: State; answer: Answer } | { state: State; next: Moment };

/** A moment. */
export const moment = (key: string, run: Moment["run"]): Moment => ({ key, run });
/** The end of a command. */
export const answered = (
  state: State,
  status: number,
  more: Omit<Answer, "status"> = {},
): Progress => ({
  state,
  answer: { status, ...more },
});
