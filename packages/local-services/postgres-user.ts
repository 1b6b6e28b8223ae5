import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { StartError } from "@statehouse/runtime";
import { postgresBinaries } from "./postgres-binaries.mjs";

/** An unprivileged account, needed because PostgreSQL refuses to run as root. */
export interface User {
  name: string;
  uid: number;
  gid: number;
}

/**
 * If this process is root, returns the account under which PostgreSQL runs. Otherwise returns undefined, because
 * PostgreSQL then runs as the current user. Throws StartError.
 */
export function postgresUser(cluster: string): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = accounts();
  // An existing cluster keeps using the account that created it.
  const owner = existsSync(cluster) ? statSync(cluster).uid : 0;
  const user = owner
    ? users.find(({ uid }) => uid === owner)
    : ["nobody", "postgres"].map((name) => users.find((user) => user.name === name)).find(Boolean);
  if (user) return user;
  throw new StartError(
    "PostgreSQL does not run as root, and there is no user `nobody` or `postgres` to run it as; start Statehouse as another user.",
  );
}

function accounts(): User[] {
  return readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}

/** Returns whether `user` can access the folder by its path. */
export function reaches(user: User, folder: string): boolean {
  const { uid, gid } = user;
  return spawnSync("/bin/sh", ["-c", 'cd "$1"', "sh", folder], { uid, gid, cwd: "/" }).status === 0;
}

/**
 * Returns PostgreSQL's programs at a path where `user` can run them: in node_modules or, if `user` cannot enter that
 * folder, in a copy.
 */
export function binariesFor(user: User | undefined): ReturnType<typeof postgresBinaries> {
  const packaged = postgresBinaries();
  if (!user || reaches(user, path.dirname(packaged.postgres))) return packaged;
  for (const base of [
    "/var/cache/statehouse",
    path.join(tmpdir(), "statehouse-0"),
    "/tmp/statehouse-0",
  ]) {
    const copy = path.join(base, `postgres-${packaged.version}`);
    if (copied(packaged.folder, copy) && reaches(user, copy)) return postgresBinaries(copy);
  }
  throw new StartError(
    `PostgreSQL runs as the user ${user.name}, who cannot read ${packaged.folder}; move Statehouse to a folder that other users may enter, or start it as another user.`,
  );
}

/**
 * Copies the folder under another name and renames the copy, so that a concurrent run never uses an incomplete copy.
 */
function copied(from: string, to: string): boolean {
  const base = path.dirname(to);
  try {
    mkdirSync(base, { recursive: true, mode: 0o755 });
    // In a shared /tmp any user could have created this folder, and PostgreSQL would then run that user's programs.
    const { uid, mode } = lstatSync(base);
    if (uid !== 0 || (mode & 0o022) !== 0) return false;
    if (existsSync(to)) return true;
    const draft = `${to}.${process.pid}`;
    cpSync(from, draft, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !file.endsWith(".a"),
    });
    try {
      renameSync(draft, to);
    } catch {
      rmSync(draft, { recursive: true, force: true });
    }
    return existsSync(to);
  } catch {
    return false;
  }
}
