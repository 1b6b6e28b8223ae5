import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { alive, cacheFolder, freePort } from "@statehouse/local-services";

/**
 * A range below the ephemeral ports: the operating system could assign an ephemeral port to another process while the
 * service is stopped.
 */
const RANGE = { first: 25_000, end: 30_000 };
/**
 * Folder with one file for each port. The file contains the id of the process that uses the port, because test files
 * run in several processes.
 */
const claims = path.join(cacheFolder(), "test-ports");
const own = new Set<string>();

/** Reserves a TCP port of 127.0.0.1 for this process: no other test takes it, even while the port is not in use. */
export async function reservePort(): Promise<number> {
  mkdirSync(claims, { recursive: true });
  for (;;) {
    const port = await freePort(RANGE);
    if (claim(String(port))) return port;
  }
}

process.once("exit", () => {
  for (const file of own) rmSync(file, { force: true });
});

function claim(port: string): boolean {
  const file = path.join(claims, port);
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    own.add(file);
    return true;
  } catch {
    // Removes the claim of a process that no longer runs; the port is free at the next attempt. A claim without an id is
    // kept, because another process is writing it.
    const owner = readOr(file, "");
    if (owner !== "" && !alive(Number(owner))) rmSync(file, { force: true });
    return false;
  }
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return otherwise;
  }
}
