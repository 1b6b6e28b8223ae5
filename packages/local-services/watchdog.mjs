import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { alive } from "./lock.mjs";

/**
 * Ensures that a process in a separate group does not outlive this one, even after SIGKILL: a shell reads from a pipe
 * that only this process holds, and sends `signal` when the pipe closes. Call the returned function after the process
 * has exited, so that the signal cannot reach another process with the same id.
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
export function stopWithUs(pid, signal) {
  // Windows has no such shell. On Windows, the next start finds a process that was left over.
  if (process.platform === "win32") return () => {};
  const name = signal.replace(/^SIG/, "");
  const shell = spawn("/bin/sh", ["-c", `read -r _; kill -${name} ${pid}`], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    cwd: "/",
  });
  shell.unref();
  if (shell.stdin && "unref" in shell.stdin && typeof shell.stdin.unref === "function") {
    shell.stdin.unref();
  }
  shell.on("error", () => {});
  return () => void shell.kill("SIGKILL");
}

const parentCheckMs = 500;

/**
 * Calls `gone` once npm or its shell has exited. A signal that is sent to npm alone never reaches the script: SIGTERM
 * ends npm and its shell, SIGHUP and SIGKILL end only npm. Without npm nothing is watched, because any other parent is
 * permitted to exit before the script.
 * @param {() => void} gone
 */
export function watchNpm(gone) {
  if (!process.env.npm_lifecycle_event || process.platform === "win32") return;
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && alive(npm)) return;
    clearInterval(timer);
    gone();
  }, parentCheckMs);
  timer.unref();
}

/** @param {number} pid */
function parentOf(pid) {
  if (process.platform === "linux") {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  }
  return Number(spawnSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }).stdout);
}
