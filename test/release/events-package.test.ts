import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { freePort } from "@statehouse/local-services";
import { needs, temporaryFolder, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { npm, running, useNpmStart } from "../compat/npm-start.ts";
import { api, document } from "../stack/http.ts";

const run = promisify(execFile);
const start = useNpmStart();

const listener = `
import { connectNats, on, subscribe } from "@statehouse/events/subscribe";
import { WorkspaceCreatedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";

const { NATS_URL: url, NATS_PASSWORD: password } = process.env;
const login = { user: "statehouse", password };
const nats = connectNats({ url, login, name: "elsewhere" });
const done = Promise.withResolvers();
const subscription = subscribe({
  nats,
  durable: "elsewhere",
  filter: "statehouse.workspaces.workspace.>",
  handlers: on(WorkspaceCreatedSchema, async (message) => done.resolve(message.workspaceId)),
  deadLetter: async ({ error }) => done.reject(error),
  logger: { info() {}, warn() {}, error() {} },
});
console.log(await done.promise);
await subscription[Symbol.asyncDispose]();
await nats[Symbol.asyncDispose]();
`;

needs("nats-server")("the packages that npm run build writes", () => {
  test("are installed by npm into an empty folder, and receive an event of a running Statehouse", {
    timeout: 300_000,
  }, async () => {
    await using folder = await temporaryFolder();
    const archives = path.join(folder.path, "archives");
    const built = npm(["run", "build", "--", archives], process.env);
    expect(await built.exit, built.output()).toBe(0);
    const project = path.join(folder.path, "project");
    const packed = readdirSync(archives).map((archive) => path.join(archives, archive));
    await run("npm", ["install", "--prefix", project, "--no-audit", "--no-fund", ...packed]);
    writeFileSync(path.join(project, "listen.mjs"), listener);

    const natsPort = String(await freePort());
    const statehouse = start({
      DATA_DIR: path.join(folder.path, "data"),
      ORGANIZATION: "acme",
      NATS_PORT: natsPort,
    });
    const url = await running(statehouse);
    const [, token = ""] = /token +(sth_\S+)/.exec(statehouse.output()) ?? [];
    const { body } = await api(url, token).post(
      "/organizations/acme/workspaces",
      document("workspaces", { name: "network" }),
    );
    const secrets = readFileSync(path.join(folder.path, "data/secrets.json"), "utf8");
    const { natsPassword } = JSON.parse(secrets);
    const received = await waitFor(() =>
      run(process.execPath, ["listen.mjs"], {
        cwd: project,
        env: { NATS_URL: `nats://127.0.0.1:${natsPort}`, NATS_PASSWORD: natsPassword },
        timeout: 30_000,
      }),
    );
    expect(received.stdout).toBe(`${body.data.id}\n`);
  });
});
