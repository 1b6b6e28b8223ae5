import { ConfigError } from "./config.ts";
import { StartError } from "./lifecycle.ts";

/**
 * Runs an operator's command and prints its lines. A failure prints one line without a stack and exits with 1. `what`
 * names the command at the start of that line, for example "Migrating".
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
