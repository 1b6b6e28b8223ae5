import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import {
  freshBucket,
  needs,
  ownNats,
  sharedDependencies,
  temporaryFolder,
  waitFor,
} from "@statehouse/testing";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { render } from "../chart/helm.ts";
import { workingFolder } from "../compat/command-line.ts";
import { cloud, example } from "../compat/fixture.ts";
import { createDatabases, newSecrets, valuesOf } from "../kubernetes/installation.ts";
import { api } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { startEdge } from "./edge.ts";
import { type Load, lostResponse, startLoad } from "./load.ts";
import { programs, releaseCommit } from "./previous-release.ts";
import { startSimulatedCluster } from "./simulated-cluster.ts";

const timeout = 400_000;
const login = { user: "statehouse", password: "of-the-bus" };

test("the previous release is the commit that gave the newest section of CHANGELOG.md its date", async () => {
  await using folder = await temporaryFolder();
  await expect(releaseCommit(folder.path)).rejects.toThrow("this checkout has no history");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder.path });
  const commit = (...lines: string[]) => {
    writeFileSync(path.join(folder.path, "CHANGELOG.md"), lines.join("\n"));
    git("add", ".");
    const author = ["-c", "user.name=author", "-c", "user.email=author@example.com"];
    git(...author, "commit", "--quiet", "--message=change");
    return git("rev-parse", "HEAD").toString().trim();
  };
  git("init", "--quiet");
  commit("## [0.1.0] - unreleased");
  expect(await releaseCommit(folder.path)).toBeUndefined();
  const first = commit("## [0.1.0] - 2026-12-01");
  expect(await releaseCommit(folder.path)).toBe(first);
  commit("## [0.2.0] - unreleased", "- More.", "## [0.1.0] - 2026-12-01");
  expect(await releaseCommit(folder.path)).toBe(first);
  const second = commit("## [0.2.0] - 2027-01-01", "- More.", "## [0.1.0] - 2026-12-01");
  commit("## [0.2.0] - 2027-01-01", "- Corrected.", "## [0.1.0] - 2026-12-01");
  expect(await releaseCommit(folder.path)).toBe(second);
  const shallow = path.join(folder.path, "shallow");
  git("clone", "--quiet", "--depth=1", `file://${folder.path}`, shallow);
  await expect(releaseCommit(shallow)).rejects.toThrow("this checkout has no history");
});

/**
 * Installs the previous release with the chart in a simulated cluster, with two replicas of each service. Each pod is a
 * process, and the Services use a changed set of ready pods only after a delay.
 */
async function install(disposing: AsyncDisposableStack) {
  const folder = disposing.use(await temporaryFolder()).path;
  const nats = disposing.use(await ownNats({ login }));
  const s3 = disposing.use(await freshBucket());
  const stores = { nats: { url: nats.url, ...login }, s3 };
  const databases = await createDatabases(sharedDependencies().postgres.url, unusedName("upgrade"));
  const image = (tag: string) => `registry.example.com/statehouse:${tag}`;
  const { previous, next } = await programs(folder);
  const cluster = disposing.use(
    startSimulatedCluster({
      folder,
      secrets: await newSecrets(stores, databases),
      programs: { [image("previous")]: previous, [image("next")]: next },
    }),
  );
  const targets = { gateway: "", objects: "" };
  const edge = disposing.use(await startEdge(targets));
  const deploy = async (tag: string) => {
    const values = valuesOf(stores, { image: image(tag), publicUrl: edge.url });
    const { settings, ...others } = values;
    await cluster.apply(
      await render({
        ...others,
        settings: { ...settings, S3_BUCKET: s3.bucket, S3_REGION: s3.region, LOG_LEVEL: "warn" },
      }),
    );
  };
  await deploy("previous");
  await complete(cluster);
  targets.gateway = cluster.network.urlOf("statehouse-gateway");
  targets.objects = cluster.network.urlOf("statehouse-state-objects");
  return { cluster, deploy, databases, url: edge.url };
}

const complete = (cluster: ReturnType<typeof startSimulatedCluster>) =>
  waitFor(cluster.complete, { timeout: 180_000, what: "all pods to be replaced and ready" });

needs(
  "release tools",
  "minio",
  "nats-server",
  "terraform",
)("two replicas of each service, under load", () => {
  const disposing = new AsyncDisposableStack();
  let installed: Awaited<ReturnType<typeof install>>;
  let load: Load;
  /** The numbers of failures, problems and refused connections at the last call of `newFailures`. */
  let seen = { failures: 0, problems: 0, refused: 0 };
  const newFailures = () => {
    const { problems, network } = installed.cluster;
    const { failures, problems: known, refused } = seen;
    seen = { failures: load.failures.length, problems: problems.length, refused: network.refused };
    return {
      failures: load.failures.slice(failures),
      problems: problems.slice(known),
      refused: network.refused - refused,
    };
  };
  const nothing = { failures: [], problems: [], refused: 0 };
  /**
   * Waits until requests, uploads and applies of the load have succeeded with the current pods, or one of them has
   * failed.
   */
  const used = async () => {
    const { requests, uploads, applies } = load.done;
    const failures = load.failures.length;
    await waitFor(
      () =>
        load.failures.length > failures ||
        (load.done.requests > requests + 100 &&
          load.done.uploads > uploads &&
          load.done.applies > applies),
      { timeout: 120_000, what: "the load to continue" },
    );
  };

  beforeAll(async () => {
    installed = await install(disposing);
    const { cluster, url } = installed;
    const token = await cluster.exec("access", "user", "token", "admin");
    const organization = await newOrganization(api(url, token));
    const configuration = `${cloud(organization, 'name = "applied"')}\n${example}`;
    const folder = disposing.use(await workingFolder({ url, token, configuration }));
    await folder.succeed("init");
    load = disposing.use(
      await startLoad({
        url,
        token,
        organization,
        folder,
        rate: 12,
        atOnce: 4,
        uploadBytes: 4_000_000,
        uploadMs: 6000,
      }),
    );
    await used();
    expect(newFailures()).toEqual(nothing);
  }, timeout);

  afterAll(() => disposing.disposeAsync());

  test("a failing migration is not noticed, and the upgrade completes when it succeeds", {
    timeout,
  }, async () => {
    const { cluster, databases, deploy } = installed;
    const refuse =
      "alter table schema_migrations add constraint no_more check (name is null) not valid";
    await query(databases, refuse);
    const before = new Map(cluster.attempts);
    const failing = () =>
      [...cluster.attempts].some(([name, tried]) => tried - (before.get(name) ?? 0) >= 3);
    await deploy("next");
    await waitFor(failing, { timeout: 180_000, what: "the migration to be tried again" });
    await used();
    expect(newFailures()).toEqual(nothing);
    await query(databases, "alter table schema_migrations drop constraint no_more");
    await complete(cluster);
    await used();
    expect(newFailures()).toEqual(nothing);
  });

  test("when a process is killed, only the requests that it was serving fail", {
    timeout,
  }, async () => {
    const { cluster } = installed;
    for (const component of ["gateway", "access", "workspaces", "state"]) {
      const start = Date.now();
      await cluster.podsOf(component)[0]?.kill();
      const end = Date.now();
      await complete(cluster);
      const { failures, problems } = newFailures();
      expect(failures.filter((failure) => failure.start > end || failure.end < start)).toEqual([]);
      // The Terraform CLI repeats requests that received no response, which does not always help: see `lostResponse`.
      const repeated = failures.filter((one) => one.what === "apply" && !lostResponse(one));
      expect(repeated).toEqual([]);
      expect(problems).toEqual([]);
    }
    await used();
    expect(newFailures()).toMatchObject({ failures: [], problems: [] });
  });

  test("a rollback is not noticed", { timeout }, async () => {
    await installed.deploy("previous");
    await complete(installed.cluster);
    await used();
    expect(newFailures()).toEqual(nothing);
  });

  test("every state that was confirmed is the current one", { timeout }, async () => {
    await load.stop();
    console.log(load.report());
    expect(newFailures()).toMatchObject({ failures: [], problems: [] });
  });
});

async function query(databases: Readonly<Record<string, string>>, sql: string): Promise<void> {
  for (const connectionString of Object.values(databases)) {
    const client = new Client({ connectionString });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }
}
