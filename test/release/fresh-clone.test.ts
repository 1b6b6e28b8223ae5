import path from "node:path";
import { needs, temporaryFolder } from "@statehouse/testing";
import { expect, onTestFinished, test } from "vitest";
import { inFolder } from "../compat/command-line.ts";
import { barePath, npm, running } from "../compat/npm-start.ts";
import { copyOfRepository } from "./copy-of-repository.ts";

/** Time limit of the first start in ms; it downloads all packages. */
const INSTALLATION_MS = 600_000;

/** The environment variables with which npm reaches its registry on this machine. */
const registry = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(npm_config_(registry|cache|userconfig|globalconfig|cafile)|https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_file)$/i.test(
      name,
    ),
  ),
);

needs("terraform")("a fresh clone on a machine with only Node, npm and terraform", () => {
  test("npm start installs it and runs the first apply, and npm test runs what it can", {
    timeout: 2 * INSTALLATION_MS,
  }, async () => {
    await using folder = await temporaryFolder();
    const clone = copyOfRepository(path.join(folder.path, "clone"));
    const environment = {
      ...registry,
      // The PATH contains the Node that npm uses, instead of the Node in node_modules that runs this test.
      PATH: await barePath(path.join(folder.path, "bin"), process.env.npm_node_execpath),
      HOME: process.env.HOME ?? "",
      XDG_CACHE_HOME: path.join(folder.path, "cache"),
      PORT: "0",
    };
    const first = npm(["start"], environment, clone);
    const end = async () => {
      if (first.running()) first.signal("SIGINT");
      await first.exit;
    };
    onTestFinished(end);
    await running(first, INSTALLATION_MS);
    expect(first.output()).toContain("Installing packages");
    const example = inFolder(path.join(clone, "examples/first-apply"), {
      PATH: environment.PATH,
      HOME: folder.path,
      TF_CLI_CONFIG_FILE: path.join(clone, ".statehouse/cli.tfrc"),
      TF_CLOUD_ORGANIZATION: "demo",
    });
    await example.succeed("init");
    await example.succeed("apply", "-auto-approve");
    await end();

    const tests = npm(["test", "--", "packages/testing", "packages/events"], environment, clone);
    expect(await tests.exit, tests.output()).toBe(0);
    expect(tests.output()).toMatch(/nats-server is missing: .*\. The suites that need it will be/);
    expect(tests.output()).toMatch(/\nSkipped suites:\n[\s\S]*\(needs nats-server\)/);
  });
});
