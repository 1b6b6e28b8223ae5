import { userInfo } from "node:os";
import { type Actor, runAs } from "./actor.ts";
import { ConfigError } from "./config.ts";
import { StartError } from "./lifecycle.ts";

/**
 * Runs an operator's command and prints its lines. The operator is recorded as the actor of the command's changes. If
 * the command fails, prints one line without a stack trace and exits with 1. `what` names the command at the start of
 * that line, for example "Migrating".
 */
export async function runCommand(
  what: string,
  work: (print: (line: string) => void) => Promise<void>,
): Promise<void> {
  try {
    const operator: Actor = { type: "operator", id: accountName() };
    await runAs(operator, () => work((line) => void process.stdout.write(`${line}\n`)));
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof StartError;
    process.stderr.write(`${known ? error.message : `${what} failed: ${String(error)}`}\n`);
    process.exitCode = 1;
  }
}

/**
 * Returns the name of the account that runs this process, or its number if the account has no name, as in many
 * containers.
 */
function accountName(): string {
  try {
    return process.env.SUDO_USER ?? userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "");
  }
}
