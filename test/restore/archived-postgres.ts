import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { type Postgres, startPostgres } from "@statehouse/local-services";
import { temporaryFolder, waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { takeBaseBackup } from "./base-backup.ts";

/** A PostgreSQL server that archives its write-ahead log. Clusters can be recovered from the archive. */
export interface ArchivedPostgres extends AsyncDisposable {
  readonly postgres: Postgres;
  /** Takes a base backup while the cluster is in use. */
  backUp(): Promise<void>;
  /** Completes the archive and stops the cluster. */
  end(): Promise<void>;
  /** Starts a new cluster from the base backup and recovers everything that was committed until `moment`. */
  recover(moment: Date): Promise<Postgres & AsyncDisposable>;
}

// This path is relative to the data directory, which is the working directory of the server and its commands.
const ARCHIVE = "../../source/archive";

export async function startArchivedPostgres(): Promise<ArchivedPostgres> {
  await using starting = new AsyncDisposableStack();
  const root = starting.use(await temporaryFolder()).path;
  // The server may run as another user, which must be able to enter this folder.
  chmodSync(root, 0o711);
  const source = path.join(root, "source");
  const archive = path.join(source, "archive");
  mkdirSync(source, { mode: 0o711 });
  mkdirSync(archive);
  chmodSync(archive, 0o777);
  const postgres = starting.use(
    await startPostgres({
      dataDirectory: source,
      fast: true,
      settings: {
        wal_level: "replica",
        max_wal_senders: "4",
        archive_mode: "on",
        archive_command: `cp %p ${ARCHIVE}/%f.part && mv ${ARCHIVE}/%f.part ${ARCHIVE}/%f`,
      },
    }),
  );
  const backup = path.join(root, "base.tar");
  let recovered = 0;
  const owned = starting.move();
  return {
    postgres,
    backUp: () => takeBaseBackup(postgres.url("postgres"), backup),
    async end() {
      const last = await switchSegment(postgres.url("postgres"));
      await waitFor(() => existsSync(path.join(archive, last)), { what: "the end of the archive" });
      await postgres.stop();
    },
    async recover(moment) {
      const folder = path.join(root, `recovered-${++recovered}`);
      const cluster = path.join(folder, "cluster");
      mkdirSync(folder, { mode: 0o711 });
      mkdirSync(cluster, { mode: 0o700 });
      copyFileSync(path.join(source, "password"), path.join(folder, "password"));
      const { status, stderr } = spawnSync("tar", [
        "-xf",
        backup,
        "-C",
        cluster,
        "--numeric-owner",
      ]);
      if (status !== 0) throw new Error(`The base backup could not be extracted: ${stderr}`);
      recoverUntil(moment, cluster, statSync(path.join(source, "cluster")));
      return startPostgres({
        dataDirectory: folder,
        fast: true,
        settings: { wal_level: "replica", hot_standby: "off" },
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Configures recovery as an operator would: where the archive is, and until which moment it is applied. The file
 * `recovery.signal` makes the server recover when it starts.
 */
function recoverUntil(moment: Date, cluster: string, owner: { uid: number; gid: number }): void {
  appendFileSync(
    path.join(cluster, "postgresql.auto.conf"),
    [
      `restore_command = 'cp ${ARCHIVE}/%f %p'`,
      `recovery_target_time = '${moment.toISOString().replace("T", " ").replace("Z", "+00")}'`,
      "recovery_target_action = 'promote'",
      "",
    ].join("\n"),
  );
  const signal = path.join(cluster, "recovery.signal");
  writeFileSync(signal, "");
  if (process.getuid?.() === 0) {
    for (const file of [cluster, signal]) chownSync(file, owner.uid, owner.gid);
  }
}

/** Starts a new segment of the write-ahead log. Returns the name of the previous one, which has the last commit. */
async function switchSegment(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // PostgreSQL ends a recovery at its target time only if it finds a later commit in the log.
    await client.query("create table after_the_last_moment ()");
    const { rows } = await client.query("select pg_walfile_name(pg_switch_wal()) as name");
    return rows[0].name;
  } finally {
    await client.end();
  }
}
