import { spawn } from "node:child_process";

/**
 * Sees to it that a process in a group of its own does not outlive us, even if we die by kill -9: a shell reads from
 * a pipe that only we hold, and when that ends sends `signal`. Call the returned function once the process is gone,
 * so that the signal cannot reach a stranger that was given its id.
 * @param {number} pid @param {NodeJS.Signals} signal
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
