import type { State } from "./state.ts";

export type Client = 0 | 1;

/** The response to a command: a status and its content. */
export interface Answer {
  status: number;
  /** The version in the document, by its position. */
  version?: number;
  /** Name of the bytes. */
  bytes?: string;
}

/** An atomic step, between which other clients' steps can occur. `key` distinguishes the steps of one command. */
export interface Moment {
  key: string;
  run(state: State): Progress;
}

export type Progress = { state: State; answer: Answer } | { state: State; next: Moment };

/** A step. */
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
