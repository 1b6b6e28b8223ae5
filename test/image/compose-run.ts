// Starts deploy/compose.yaml and applies a configuration with the real Terraform CLI: `node compose-run.ts IMAGE`. The
// script runs in a separate network namespace (compose.test.ts), in which every service can have the ports that the
// Compose file gives it. Instead of the images that Compose would pull, the script runs the same programs from this
// machine: PostgreSQL as a process, NATS and MinIO in containers.
import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { findProgram, startPostgres } from "@statehouse/local-services";
import { temporaryFolder, waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { exampleFolder } from "../compat/example-folder.ts";
import { api } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { baseImage } from "./base-images.ts";
import { type ComposeService, readCompose } from "./compose-file.ts";
import { type Container, mountImage } from "./container.ts";

const [imageName = ""] = process.argv.slice(2);
const deploy = path.resolve(import.meta.dirname, "../../deploy");
const passwords = { POSTGRES_PASSWORD: "database", S3_SECRET_KEY: "storestore" };
const step = (line: string) => void process.stdout.write(`${line}\n`);

execFileSync("ip", ["link", "set", "lo", "up"]);
await using disposing = new AsyncDisposableStack();
const folder = disposing.use(await temporaryFolder()).path;
const image = disposing.use(await mountImage(imageName));
const base = disposing.use(await mountImage(await baseImage()));
const { services, volumes } = readCompose(path.join(deploy, "compose.yaml"), {
  ...passwords,
  STATEHOUSE_IMAGE: imageName,
});
await createKeys();
const hosts = path.join(folder, "hosts");
writeFileSync(
  hosts,
  ["localhost", ...Object.keys(services)].map((name) => `127.0.0.1 ${name}\n`).join(""),
);
for (const volume of volumes) mkdirSync(path.join(folder, "volumes", volume), { recursive: true });

/**
 * The programs of the images that Compose would pull, each with the URL that the health check of its image requests.
 */
const pulled: Record<string, { program: "minio" | "nats-server"; health: string }> = {
  nats: { program: "nats-server", health: "http://127.0.0.1:8222/healthz" },
  minio: { program: "minio", health: "http://127.0.0.1:9000/minio/health/ready" },
};

const containers = new Map<string, Container>();
const starting = new Map<string, Promise<void>>();
await Promise.all(Object.keys(services).map(started));
await apply();
await stop();
step("done");

/** Starts a service after its dependencies have reached their conditions; resolves when it is healthy or has ended. */
function started(name: string): Promise<void> {
  const known = starting.get(name);
  if (known) return known;
  const service = services[name];
  if (!service) throw new Error(`the file has no service ${name}`);
  const run = async () => {
    await Promise.all(
      Object.entries(service.depends_on).map(async ([other, { condition }]) => {
        const ends = condition === "service_completed_successfully";
        if (ends !== !services[other]?.healthcheck)
          throw new Error(`${name}: ${condition} of ${other} contradicts its health check`);
        await started(other);
      }),
    );
    await (name === "postgres" ? startDatabase(service) : startOne(name, service));
  };
  const promise = run();
  starting.set(name, promise);
  return promise;
}

async function startDatabase(service: ComposeService): Promise<void> {
  const postgres = disposing.use(
    await startPostgres({ dataDirectory: path.join(folder, "postgres"), port: 5432, fast: true }),
  );
  const client = new Client({ connectionString: postgres.url("postgres") });
  await client.connect();
  const { POSTGRES_USER: user, POSTGRES_PASSWORD: password } = service.environment;
  await client.query(`alter role ${user} password '${password}'`);
  for (const volume of service.volumes) {
    const [source = "", target = ""] = volume.split(":");
    if (!target.startsWith("/docker-entrypoint-initdb.d/")) continue;
    for (const statement of readFileSync(path.join(deploy, source), "utf8").split(";")) {
      if (statement.trim() !== "") await client.query(statement);
    }
  }
  await client.end();
  step("postgres is healthy");
}

async function startOne(name: string, service: ComposeService): Promise<void> {
  const other = pulled[name];
  const container = disposing.use(
    await (other ? startPulled(other.program, service) : startOwn(name, service)),
  );
  containers.set(name, container);
  const { healthcheck } = service;
  if (!healthcheck) {
    const code = await container.exit;
    if (code !== 0) throw new Error(`${name} ended with ${code}:\n${container.output()}`);
    containers.delete(name);
    step(`${name} has ended`);
    return;
  }
  const isHealthy = async () =>
    other ? (await fetch(other.health)).ok : (await container.exec(...healthcheck.test)).code === 0;
  await waitFor(isHealthy, {
    interval: healthcheck.start_interval,
    what: `${name} to be healthy`,
    program: container,
  });
  step(`${name} is healthy`);
}

/**
 * Starts one of Statehouse's own services. Throws unless the Compose file gives it the same restrictions as the
 * containers in these tests.
 */
async function startOwn(name: string, service: ComposeService): Promise<Container> {
  const closed = { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] };
  for (const [key, value] of Object.entries(closed)) {
    if (JSON.stringify(Reflect.get(service, key)) !== JSON.stringify(value)) {
      throw new Error(`${name}: ${key} must be ${JSON.stringify(value)}`);
    }
  }
  if (service.user !== image.configuration.User)
    throw new Error(`${name}: user must be that of the image`);
  return image.start({
    args: service.command,
    env: service.environment,
    volumes: volumesOf(service),
    hosts,
  });
}

async function startPulled(
  program: "minio" | "nats-server",
  service: ComposeService,
): Promise<Container> {
  const binary = findProgram(program);
  if (!binary) throw new Error(`${program} is missing`);
  return base.start({
    entrypoint: ["/run/program"],
    args: service.command,
    env: service.environment,
    volumes: { "/run/program": binary, ...volumesOf(service) },
    // The root user of a container has this capability by default; with it, root can read files of other users.
    capabilities: ["CAP_DAC_OVERRIDE"],
    hosts,
  });
}

/**
 * Creates a token of the administrator with the image's command-line program, and applies a configuration with this
 * token.
 */
async function apply(): Promise<void> {
  const { environment = {} } = services.access ?? {};
  await using command = await image.start({
    args: ["user", "token", "admin"],
    env: environment,
    hosts,
  });
  if ((await command.exit) !== 0) throw new Error(command.output());
  const token = command.output().trim();
  const url = "http://localhost:8080";
  const organization = await newOrganization(api(url, token));
  await using directory = await exampleFolder({ url, token, organization, workspace: "composed" });
  await directory.succeed("init");
  await directory.succeed("apply", "-auto-approve");
  step(`applied: ${(await directory.succeed("output", "-raw", "text")).stdout}`);
}

/** Stops everything in the reverse order of the starts, as Compose does. */
async function stop(): Promise<void> {
  for (const [name, container] of [...containers].reverse()) {
    await container.signal("TERM");
    const code = await container.exit;
    if (!pulled[name] && code !== 0) throw new Error(`${name} ended with ${code}`);
  }
  step("stopped");
}

/** Creates the keys in the way that docs/operations.md describes for operators. */
async function createKeys(): Promise<void> {
  const [uid = 0, gid = 0] = (image.configuration.User ?? "").split(":").map(Number);
  const keys = path.join(folder, "keys");
  mkdirSync(keys, { mode: 0o700 });
  chownSync(keys, uid, gid);
  for (const args of [
    ["keys", "new", "/keys/keys.json"],
    ["keys", "print", "/keys/keys.json", "--format", "files", "--to", "/keys"],
  ]) {
    await using command = await image.start({ args, volumes: { "/keys": keys } });
    if ((await command.exit) !== 0) throw new Error(command.output());
  }
}

/**
 * Converts the source of a volume, as the Compose file names it, to a path on this machine. The sources below ./keys/
 * are the key files that `createKeys` has created.
 */
function sourceOf(source: string): string {
  if (source.startsWith("./keys/")) return path.join(folder, source);
  return source.startsWith("./") ? path.join(deploy, source) : path.join(folder, "volumes", source);
}

/** Returns the sources of a service's volumes, keyed by their paths in the container. */
function volumesOf({ volumes: named }: ComposeService): Record<string, string> {
  return Object.fromEntries(
    named.map((volume) => {
      const [source = "", target = ""] = volume.split(":");
      return [target, sourceOf(source)];
    }),
  );
}
