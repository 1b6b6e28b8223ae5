import type { State } from "./state.ts";

export type Client = 0 | 1;

/** The model's response to a command: a status, and the version or the bytes that the response contains. */
export interface Answer {
  status: number;
  /** The state version in the response's document, as its index in the model's list of state versions. */
  version?: number;
  /** The model's name for the bytes that the response contains. */
  bytes?: string;
}

/**
 * One atomic step of a command. Steps of other commands can run between two steps. Within a command, steps with the
 * same `key` have the same effect.
 */
export interface Moment {
  key: string;
  run(state: State): Progress;
}

export type Progress = { state: State; answer: Answer } | { state: State; next: Moment };

/** Creates a step. */
export const moment = (key: string, run: Moment["run"]): Moment => ({ key, run });
/** Ends the command with this response. */
export const answered = (
  state: State,
  status: number,
  more: Omit<Answer, "status"> = {},
): Progress => ({
  state,
  answer: { status, ...more },
});
