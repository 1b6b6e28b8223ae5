/** A failure that the user at the terminal can resolve: printed as one sentence, never with a stack. */
export class Failure extends Error {
  /** @param {string} sentence */
  constructor(sentence) {
    super(sentence);
    this.name = "Failure";
  }
}

/**
 * Runs `work`. If it throws a Failure, prints its sentence on stderr and exits with 1. Any other error is a bug and
 * keeps its stack.
 * @param {() => Promise<void>} work
 */
export async function exitWithMessage(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
