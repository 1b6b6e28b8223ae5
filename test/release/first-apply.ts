import { cp } from "node:fs/promises";
import path from "node:path";
import { freePort } from "@statehouse/local-services";
import { childEnvironment, temporaryFolder, waitFor } from "@statehouse/testing";
import { inTerminal, prompt } from "./terminal.ts";

const root = path.resolve(import.meta.dirname, "../..");

/** Time limit of a command in ms. */
const COMMAND_MS = 120_000;

/** The last line that `npm start` prints when everything runs. */
const started = "the next start continues with the same data.";

/** The outputs of the two shells in which a first apply is made. */
export interface FirstApply {
  start: string;
  apply: string;
}

/**
 * Runs `npm start` with an empty data folder, and a first apply against it. The outputs show the folders and the port of
 * a default installation in `/srv/statehouse`, and the beginning of the token, which is valid in this data folder only.
 */
export async function recordFirstApply(): Promise<FirstApply> {
  await using folder = await temporaryFolder();
  const dataDirectory = path.join(folder.path, "data");
  const example = path.join(folder.path, "first-apply");
  await cp(path.join(root, "examples/first-apply"), example, { recursive: true });
  const port = await freePort();
  const env = childEnvironment({
    HOME: process.env.HOME ?? "",
    npm_config_loglevel: "error",
    CHECKPOINT_DISABLE: "1",
  });

  const server = inTerminal("npm start", {
    cwd: root,
    env: { ...env, DATA_DIR: dataDirectory, PORT: String(port) },
  });
  try {
    await waitFor(() => server.output().includes(started), {
      timeout: COMMAND_MS,
      what: "the start",
      program: server,
    });
    const start = server.output();
    let apply =
      prompt("export TF_CLI_CONFIG_FILE=$PWD/.statehouse/cli.tfrc TF_CLOUD_ORGANIZATION=demo") +
      prompt("cd examples/first-apply");
    for (const command of ["terraform init", "terraform apply -auto-approve"]) {
      const cli = inTerminal(command, {
        cwd: example,
        env: {
          ...env,
          HOME: folder.path,
          TF_CLI_CONFIG_FILE: path.join(dataDirectory, "cli.tfrc"),
          TF_CLOUD_ORGANIZATION: "demo",
        },
      });
      if ((await cli.exit) !== 0) throw new Error(`${command} failed:\n${cli.output()}`);
      apply += prompt(command) + cli.output();
    }
    const shown = (text: string) =>
      text
        .replaceAll(dataDirectory, "/srv/statehouse/.statehouse")
        .replaceAll(root, "/srv/statehouse")
        .replaceAll(`:${port}`, ":8080")
        .replace(/(sth_\S{6})\S+/, "$1…");
    return { start: prompt("npm start") + shown(start), apply: shown(apply) };
  } finally {
    if (server.running()) server.interrupt();
    await server.exit;
  }
}
