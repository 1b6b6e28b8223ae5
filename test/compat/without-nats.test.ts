import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { freePort } from "@statehouse/local-services";
import { databaseOf } from "@statehouse/standalone/running-database";
import { needs, type TemporaryFolder, temporaryFolder, waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { api, document, linkage } from "../stack/http.ts";
import { published } from "../stack/published.ts";
import { expectStatus } from "../stack/state.ts";
import { inFolder } from "./command-line.ts";
import { barePath, npm, running, useNpmStart } from "./npm-start.ts";

const start = useNpmStart();

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

needs("terraform", "nats-server")(
  "npm start on a machine with only Node, npm and terraform",
  () => {
    test("the life of a workspace succeeds, and a later start with nats-server publishes its events", async () => {
      const bin = await barePath(path.join(folder.path, "bin"));
      const dataDirectory = path.join(folder.path, "data");
      const environment = { DATA_DIR: dataDirectory, ORGANIZATION: "acme" };
      const bare = npm(["start"], {
        ...environment,
        PATH: bin,
        HOME: folder.path,
        XDG_CACHE_HOME: path.join(folder.path, "cache"),
        PORT: "0",
      });
      try {
        const url = await running(bare);
        const lines = bare.output().match(/.*nats-server.*/g);
        expect(lines).toHaveLength(1);
        expect(lines?.[0]).toMatch(/wait in the outbox.*published once a start finds it.*Go/);
        const cliFile = await readFile(path.join(dataDirectory, "cli.tfrc"), "utf8");
        const token = /token *= *"([^"]+)"/.exec(cliFile)?.[1] ?? "";
        const owner = api(url, token);

        const example = path.join(folder.path, "example");
        await cp("examples/first-apply", example, { recursive: true });
        const cli = inFolder(example, {
          PATH: bin,
          HOME: folder.path,
          TF_CLI_CONFIG_FILE: path.join(dataDirectory, "cli.tfrc"),
          TF_CLOUD_ORGANIZATION: "acme",
        });
        await cli.succeed("init");
        await cli.succeed("apply", "-auto-approve");
        expect((await cli.succeed("plan")).output).toContain("No changes");
        const { body: list } = await owner.get("/organizations/acme/workspaces");
        const [{ id }] = list.data;
        const count = () =>
          waitFor(async () => {
            const { body } = await owner.get(`/workspaces/${id}`);
            return body.data.attributes["resource-count"] || undefined;
          });
        expect(await count()).toBeGreaterThan(0);

        // Locking also works without NATS: an apply is refused while another user holds the lock.
        await cli.succeed("state", "pull");
        await expectStatus(200, owner.post(`/workspaces/${id}/actions/lock`));
        const refused = await cli.run("apply", "-auto-approve");
        expect(refused.code).not.toBe(0);
        await expectStatus(200, owner.post(`/workspaces/${id}/actions/unlock`));

        // Granting access to a team also works without NATS, and the access ends when the workspace is deleted.
        const team = await expectStatus(
          201,
          owner.post("/organizations/acme/teams", document("teams", { name: "network" })),
        );
        const teamId = team.body.data.id;
        const teamToken = await expectStatus(
          201,
          owner.post(
            `/teams/${teamId}/authentication-token`,
            document("authentication-tokens", {}),
          ),
        );
        const member = api(url, teamToken.body.data.attributes.token);
        expect((await member.get(`/workspaces/${id}`)).status).toBe(404);
        const access = await expectStatus(
          200,
          owner.post(
            "/team-workspaces",
            document(
              "team-workspaces",
              { access: "read" },
              { team: linkage("teams", teamId), workspace: linkage("workspaces", id) },
            ),
          ),
        );
        expect((await member.get(`/workspaces/${id}`)).status).toBe(200);

        await cli.succeed("destroy", "-auto-approve");
        await expectStatus(204, owner.delete(`/workspaces/${id}`));
        const gone = `/team-workspaces/${access.body.data.id}`;
        await waitFor(async () => (await owner.get(gone)).status === 404);
        const rows = async (service: "access" | "workspaces", table: string) => {
          const client = new Client({ connectionString: databaseOf(dataDirectory, service) });
          await client.connect();
          try {
            return (await client.query(`select from ${table}`)).rowCount;
          } finally {
            await client.end();
          }
        };
        await waitFor(async () => (await rows("access", "team_accesses")) === 0);
        expect(await rows("workspaces", "outbox")).toBeGreaterThan(0);
      } finally {
        bare.signal("SIGINT");
        await bare.exit;
      }

      const natsPort = String(await freePort());
      const complete = start({ ...environment, NATS_PORT: natsPort });
      await running(complete);
      expect(complete.output()).not.toContain("nats-server");
      const secrets = await readFile(path.join(dataDirectory, "secrets.json"), "utf8");
      await using events = published({
        url: `nats://127.0.0.1:${natsPort}`,
        login: { user: "statehouse", password: JSON.parse(secrets).natsPassword },
      });
      await waitFor(() =>
        ["workspace.created", "workspace.locked", "workspace.deleted"].every((noun) =>
          events.events.some(({ type }) => type.startsWith(`statehouse.workspaces.${noun}.`)),
        ),
      );
      complete.signal("SIGTERM");
      expect(await complete.exit).toBe(0);
    });
  },
);
