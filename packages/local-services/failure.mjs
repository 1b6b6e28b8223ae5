/** A reason to stop that the person at the terminal can act on: printed as one sentence, never with a stack. */
export class Failure extends Error {
  /** @param {string} sentence */
  constructor(sentence) {
    super(sentence);
    this.name = "Failure";
  }
}

/**
 * Runs `work`; a Failure becomes one sentence on stderr and exit code 1. Anything else is our bug and keeps its stack.
 * @param {() => Promise<void>} work
 */
export async function orOneSentence(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
