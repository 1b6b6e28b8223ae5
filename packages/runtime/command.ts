import { ConfigError } from "./config.ts";
import { StartError } from "./lifecycle.ts";

/**
 * Runs an operator's command, which `print`s its lines. A failure is one line, without a stack, and exit code 1; `what`
 * is the command as the beginning of a sentence: "Migrating".
 */
export async function runCommand(
  what: string,
  work: (print: (line: string) => void) => Promise<void>,
): Promise<void> {
  try {
    await work((line) => void process.stdout.write(`${line}\n`));
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartError;
    process.stderr.write(`${known ? error.message : `${what} failed: ${String(error)}`}\n`);
    process.exitCode = 1;
  }
}
