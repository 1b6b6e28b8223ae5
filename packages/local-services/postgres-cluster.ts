import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { requireOwn, StartError } from "@statehouse/runtime";
import { binariesFor, postgresUser, reaches, type User } from "./postgres-user.ts";

/** A PostgreSQL data folder, with the user and the programs that run it. */
export interface Cluster {
  /** PostgreSQL's data directory. */
  folder: string;
  password: string;
  user: User | undefined;
  /** The path of the data directory as it is passed to PostgreSQL. */
  asSeen: string;
  binaries: ReturnType<typeof binariesFor>;
}

export const superuser = "statehouse";

/** Opens the cluster in `dataDirectory`; the first call creates it. Throws StartError. */
export function openCluster(dataDirectory: string, fast: boolean): Cluster {
  const folder = path.join(dataDirectory, "cluster");
  mkdirOrSay(dataDirectory);
  const user = postgresUser(folder);
  const binaries = binariesFor(user);
  const cluster: Cluster = {
    folder,
    password: ownPassword(path.join(dataDirectory, "password")),
    user,
    asSeen: folder,
    binaries,
  };
  if (existsSync(folder)) checkVersion(folder, binaries.major);
  else create(cluster, dataDirectory, fast);
  return { ...cluster, asSeen: seenAs(cluster, folder) };
}

/**
 * Creates the cluster under another name and renames it, so that a folder called `cluster` is always complete, even
 * after a crash.
 */
function create(cluster: Cluster, dataDirectory: string, fast: boolean): void {
  const draft = path.join(dataDirectory, "cluster.new");
  const passwordFile = path.join(dataDirectory, "password.new");
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordFile, `${cluster.password}\n`, { mode: 0o600 });
  if (cluster.user) {
    for (const file of [draft, passwordFile]) chownSync(file, cluster.user.uid, cluster.user.gid);
  }
  // The password is passed on standard input, because the user that runs PostgreSQL may have no access to the file.
  const input = openSync(passwordFile, "r");
  const made = spawnSync(
    cluster.binaries.initdb,
    [
      ...["-D", seenAs(cluster, draft), "-U", superuser],
      ...["--auth=scram-sha-256", `--pwfile=${cluster.user ? "/dev/stdin" : passwordFile}`],
      // This locale is the same on every machine and does not depend on the C library.
      ...["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
      ...["--set=timezone=UTC", "--set=log_timezone=UTC", "--no-instructions"],
      // SCRAM hashes the password thousands of times by default, on both sides of each login; tests hash once.
      ...(fast ? ["--no-sync", "--set=scram_iterations=1"] : []),
    ],
    {
      cwd: draft,
      encoding: "utf8",
      env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
      stdio: [input, "pipe", "pipe"],
      ...(cluster.user && { uid: cluster.user.uid, gid: cluster.user.gid }),
    },
  );
  closeSync(input);
  rmSync(passwordFile, { force: true });
  if (made.status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    const said = `${made.stderr ?? ""}${made.error?.message ?? ""}`.trim().split("\n");
    const line = said.find((text) => /error|fatal/i.test(text)) ?? said[0] ?? "";
    throw new StartError(
      `PostgreSQL could not create its data directory in ${dataDirectory}: ${line}`,
    );
  }
  renameSync(draft, cluster.folder);
}

/**
 * Returns the path by which PostgreSQL can open the folder. If PostgreSQL's user is not allowed to enter a parent
 * folder, for example because the clone is under /root, Linux still permits access through the working directory,
 * which root sets before the process changes its user.
 */
function seenAs({ user }: Cluster, folder: string): string {
  if (!user || reaches(user, folder)) return folder;
  if (process.platform === "linux") return "/proc/self/cwd";
  throw new StartError(
    `PostgreSQL runs as the user ${user.name}, who cannot enter ${folder}; set DATA_DIR to a folder that other users may enter, or start Statehouse as another user.`,
  );
}

function checkVersion(folder: string, major: number): void {
  const found = readFileSync(path.join(folder, "PG_VERSION"), "utf8").trim();
  if (found === String(major)) return;
  throw new StartError(
    `The databases in ${folder} were created by PostgreSQL ${found}, and this is PostgreSQL ${major}: move them with pg_upgrade or a dump, or set DATA_DIR to another folder.`,
  );
}

function ownPassword(file: string): string {
  if (!existsSync(file)) {
    writeFileSync(file, randomBytes(24).toString("base64url"), { mode: 0o600 });
  }
  requireOwn(file);
  return readFileSync(file, "utf8").trim();
}

function mkdirOrSay(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    writeFileSync(path.join(folder, ".writable"), "");
    rmSync(path.join(folder, ".writable"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartError(`The data directory ${folder} cannot be written: ${why}`);
  }
}
