// Runs on any Node and starts a script on the pinned Node 26: `node run.mjs script.ts arguments…`.
import { spawn } from "node:child_process";
import { compileCache } from "./compile-cache.mjs";
import { exitWithMessage, Failure } from "./failure.mjs";
import { pinnedNode } from "./platform.mjs";
import { stopWithUs, watchNpm } from "./watchdog.mjs";

const forwarded = /** @type {NodeJS.Signals[]} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
const echoMs = 500;

await exitWithMessage(async () => {
  const [script, ...args] = process.argv.slice(2);
  if (!script)
    throw new Failure("usage: node packages/local-services/run.mjs <script> [arguments]");
  const windows = process.platform === "win32";
  // The script runs in a separate process group, because Ctrl-C reaches the whole foreground group and npm sends the
  // signal again. A draining service must receive the signal only once: a second signal causes an immediate exit.
  const child = spawn(pinnedNode(), [script, ...args], {
    stdio: "inherit",
    detached: !windows,
    env: { NODE_COMPILE_CACHE: compileCache(), ...process.env },
  });
  /** @type {Map<string, number>} */
  const receivedAt = new Map();
  for (const signal of forwarded) {
    process.on(signal, () => {
      const now = Date.now();
      const echo = now - (receivedAt.get(signal) ?? 0) < echoMs;
      receivedAt.set(signal, now);
      if (!echo && !windows) child.kill(signal);
    });
  }
  watchNpm(() => child.kill("SIGTERM"));
  const release = child.pid ? stopWithUs(child.pid, "SIGTERM") : () => {};
  /** @type {{ code: number | null, signal: NodeJS.Signals | null }} */
  const exit = await new Promise((resolve, reject) => {
    child.once("error", (error) =>
      reject(new Failure(`Node cannot be started: ${error.message}.`)),
    );
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  release();
  if (exit.signal) {
    for (const signal of forwarded) process.removeAllListeners(signal);
    process.kill(process.pid, exit.signal);
    // The signal arrives in a later turn of the event loop; exiting now would hide it.
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  process.exitCode = exit.code ?? 1;
});
