import { existsSync } from "node:fs";
import path from "node:path";
import type { StandaloneConfig } from "./config.ts";
import type { Standalone } from "./standalone.ts";

const example = path.resolve(import.meta.dirname, "../../examples/first-apply");

/** Returns the text that is printed when everything runs: the address, and the lines to copy. */
export function welcomeText(config: StandaloneConfig, standalone: Standalone): string {
  const { url, operationsUrl, cliFile, token, publishesEvents, runnerFile } = standalone;
  const tokenLine = token
    ? `  token         ${token}   (shown once; kept in the file below)`
    : `  token         as before, in the file below`;
  return [
    "",
    `Statehouse is running at ${url}`,
    "",
    `  organization  ${config.ORGANIZATION}`,
    `  user          ${config.ADMIN_USERNAME}`,
    tokenLine,
    `  CLI file      ${cliFile}`,
    `  operations    ${operationsUrl}/readyz, /healthz, /metrics (this machine only)`,
    ...(runnerFile ? [`  runner        ${runnerFile} (its settings)`] : []),
    ...(publishesEvents ? [] : [`  events        ${withoutNats}`]),
    "",
    "In another shell, a first apply:",
    "",
    `  export TF_CLI_CONFIG_FILE=${quoted(cliFile)}`,
    `  export TF_CLOUD_ORGANIZATION=${quoted(config.ORGANIZATION)}`,
    ...(existsSync(example) ? [`  cd ${quoted(example)}`] : []),
    "  terraform init && terraform apply",
    "",
    "Ctrl-C stops it; the next start continues with the same data.",
    "",
  ].join("\n");
}

const withoutNats =
  "wait in the outbox, because nats-server is missing, and are published once a start finds it; " +
  "put nats-server on PATH, or install Go (https://go.dev/dl), with which it is built.";

/** Quotes a string for a shell if necessary. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
