import { cp, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { needs, type TemporaryFolder, temporaryFolder } from "@statehouse/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inFolder } from "./command-line.ts";
import { running, type Started, useNpmStart } from "./npm-start.ts";

const start = useNpmStart();

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

needs("terraform")("npm start", () => {
  test("prints the steps of a first apply, stops on Ctrl-C, and continues with its data at the next start", {
    timeout: 120_000,
  }, async () => {
    const dataDirectory = path.join(folder.path, "data");
    const first = start({ DATA_DIR: dataDirectory, ORGANIZATION: "acme" });
    await running(first);
    const [, token = ""] = /token +(sth_\S+)/.exec(first.output()) ?? [];
    expect(token).not.toBe("");
    const cliFile = path.join(dataDirectory, "cli.tfrc");
    expect(first.output()).toContain(`export TF_CLI_CONFIG_FILE=${cliFile}`);
    expect((await stat(cliFile)).mode & 0o777).toBe(0o600);
    expect((await stat(path.join(dataDirectory, "secrets.json"))).mode & 0o777).toBe(0o600);

    const example = path.join(folder.path, "example");
    await cp("examples/first-apply", example, { recursive: true });
    const exported = [...first.output().matchAll(/^ {2}export (\w+)=(\S+)$/gm)].map(
      ([, name = "", value = ""]) => [name, value] as const,
    );
    const cli = inFolder(example, { ...Object.fromEntries(exported), HOME: folder.path });
    await cli.succeed("init");
    await cli.succeed("apply", "-auto-approve");
    first.signal("SIGINT");
    expect(await first.exit).toBe(0);

    const second = start({ DATA_DIR: dataDirectory, ORGANIZATION: "acme" });
    await running(second);
    expect(second.output()).not.toContain(token);
    expect(await readFile(cliFile, "utf8")).toContain(token);
    expect((await cli.succeed("output", "-raw", "greeting")).stdout).toBe("Hello from Statehouse");
    expect((await cli.succeed("plan")).output).toContain("No changes");
    second.signal("SIGTERM");
    expect(await second.exit).toBe(0);
  });
});

describe("npm start reports in one sentence", () => {
  const sentence = async (started: Started) => {
    expect(await started.exit).toBe(1);
    expect(started.output()).not.toMatch(/\n\s+at /);
    return started.output().trim();
  };

  /** Listens on a port until disposal. */
  const takePort = async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = String(typeof address === "object" && address ? address.port : 0);
    return { port, [Symbol.dispose]: () => void server.close() };
  };

  test("a port in use", async () => {
    using taken = await takePort();
    const { port } = taken;
    const said = await sentence(start({ PORT: port, DATA_DIR: path.join(folder.path, "taken") }));
    expect(said).toBe(
      `Port ${port} of 127.0.0.1 is in use; stop the program that uses it, or set PORT to another port (0 selects a free one).`,
    );
  });

  needs("nats-server")("a port of NATS in use", () => {
    test("after PostgreSQL has stopped", { timeout: 120_000 }, async () => {
      using taken = await takePort();
      const dataDirectory = path.join(folder.path, "without-nats");
      const said = await sentence(start({ NATS_PORT: taken.port, DATA_DIR: dataDirectory }));
      expect(said).toContain("NATS did not start");
      const log = await readFile(path.join(dataDirectory, "postgres/postgres.log"), "utf8");
      expect(log).toContain("database system is shut down");
    });
  });

  test("a folder in use when two processes start at once", {
    timeout: 120_000,
  }, async () => {
    const both = [1, 2].map(() => start({ DATA_DIR: path.join(folder.path, "shared") }));
    const exits = both.map((one) => one.exit.then(() => one));
    const refused = await Promise.race(exits);
    const said = await sentence(refused);
    expect(said).toMatch(
      /shared is in use by another process of Statehouse \(\d+\); stop it, or set DATA_DIR to another folder\.$/,
    );
    const [other] = both.filter((one) => one !== refused);
    if (!other) throw new Error("both processes were refused");
    await running(other);
  });

  test("a folder that is not writable", async () => {
    const file = path.join(folder.path, "file");
    await writeFile(file, "");
    const said = await sentence(start({ DATA_DIR: path.join(file, "data") }));
    expect(said).toBe(
      `The data folder ${file}/data is not writable (ENOTDIR); set DATA_DIR to a writable folder.`,
    );
  });

  test("all invalid settings", async () => {
    const said = await sentence(start({ PORT: "many", LOG_LEVEL: "loud" }));
    expect(said).toMatch(/^PORT: /m);
    expect(said).toMatch(/^LOG_LEVEL: /m);
  });
});

test("npm start -- --help lists every setting with its default", async () => {
  const help = start({}, "--help");
  expect(await help.exit).toBe(0);
  for (const name of ["HOST", "PORT", "DATA_DIR", "PUBLIC_URL", "BLOB_STORE", "PENDING_WINDOW"]) {
    expect(help.output()).toMatch(new RegExp(`^ {2}${name} `, "m"));
  }
  for (const name of ["DATABASE_URL", "STREAM_REPLICAS"]) {
    expect(help.output()).not.toContain(name);
  }
});
