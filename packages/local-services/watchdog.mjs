import { spawn } from "node:child_process";

/**
 * Ensures that a process in a separate group does not outlive this one, even after SIGKILL: a shell reads from a pipe
 * that only this process holds, and sends `signal` when the pipe closes. Call the returned function after the process
 * has exited, so that the signal cannot reach another process with the same id.
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
export function stopWithUs(pid, signal) {
  // Windows has no such shell; there a left-over process is found at the next start.
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
