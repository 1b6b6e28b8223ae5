import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort } from "@statehouse/local-services";

/** Not an ephemeral port, which the operating system could assign while the service is stopped. */
const RANGE = { first: 25_000, end: 30_000 };
/** One file for each port, with the id of the process that uses it, because test files run in several processes. */
const claims = path.join(tmpdir(), "statehouse-test-ports");
const own = new Set<string>();

/** A TCP port of 127.0.0.1 that no other test takes while this process runs, even while the port is not in use. */
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
    // The port of a killed process is free at the next attempt.
    if (!isAlive(readOr(file, ""))) rmSync(file, { force: true });
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

/** An empty file: another process is writing it. */
function isAlive(pid: string): boolean {
  try {
    return pid === "" || process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}
