import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { childEnvironment, temporaryFolder } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { api, document } from "../stack/http.ts";
import { expectStatus } from "../stack/state.ts";
import { running, useNpmStart } from "./npm-start.ts";

const start = useNpmStart();
const root = path.join(import.meta.dirname, "../..");
const [documentedCommand = ""] =
  /^.*examples\/runner\/report\.mjs$/m.exec(
    readFileSync(path.join(root, "docs/runs.md"), "utf8"),
  ) ?? [];
/** The programs of this machine, without those that npm installs, such as the Node under which this test runs. */
const installedPrograms = (process.env.PATH ?? "")
  .split(path.delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(path.delimiter);

test("with RUNNER_PORT, the example runner reports with the settings that npm start writes", async () => {
  proves("Real clients/11");
  await using folder = await temporaryFolder();
  const dataDirectory = path.join(folder.path, "data");
  const started = start({ DATA_DIR: dataDirectory, ORGANIZATION: "acme", RUNNER_PORT: "0" });
  const url = await running(started);
  const settings = path.join(dataDirectory, "runner", "settings.env");
  expect(started.output()).toContain(settings);
  const [, token = ""] = /token +(sth_\S+)/.exec(started.output()) ?? [];
  const owner = api(url, token);
  const made = owner.post("/organizations/acme/workspaces", document("workspaces", { name: "w" }));
  const { id } = (await expectStatus(201, made)).body.data;

  const command = documentedCommand.replace(".statehouse/runner/settings.env", settings);
  const report = (environment: Record<string, string>) =>
    promisify(execFile)("sh", ["-c", command], {
      cwd: root,
      env: childEnvironment({ WORKSPACE_ID: id, PATH: installedPrograms, ...environment }),
    });
  const { stdout } = await report({});
  const { body } = await owner.get(`/workspaces/${id}?include=current_run`);
  expect(body.included[0]).toMatchObject({ id: stdout.trim(), attributes: { status: "applied" } });
  await expect(report({ GRPC_TLS: "off" })).rejects.toThrow("does not answer");
  started.signal("SIGTERM");
  expect(await started.exit).toBe(0);
});
