import type { State } from "./state.ts";

export type Client = 0 | 1;

/** The response to a command: a status and a content. */
export interface Answer {
  status: number;
  /** The version in the document, as its position in the model. */
  version?: number;
  /** The name of the bytes. */
  bytes?: string;
}

/** An atomic step, between which steps of other clients can run. `key` distinguishes the steps of one command. */
export interface Moment {
  key: string;
  run(state: State): Progress;
}

export type Progress = { state: State; answer: Answer } | { state: State; next: Moment };

/** The step is followed by another one. */
export const moment = (key: string, run: Moment["run"]): Moment => ({ key, run });
/** The command ends. */
export const answered = (
  state: State,
  status: number,
  more: Omit<Answer, "status"> = {},
): Progress => ({
  state,
  answer: { status, ...more },
});
