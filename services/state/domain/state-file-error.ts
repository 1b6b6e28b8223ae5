/** The content is no state that anybody could read; trying again gives the same. */
export class StateFileError extends Error {
  override readonly name: string = "StateFileError";
}

/** Time or memory did not suffice: perhaps they do later, and a few attempts are enough to know. */
export class StateReadingError extends StateFileError {
  override readonly name = "StateReadingError";
}
