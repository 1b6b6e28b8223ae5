// Loaded into a measured process by `NODE_OPTIONS=--import=…`. Measures the longest pauses of the process's event loop.
// Each connection to the socket `<PAUSE_METER>/<pid>` receives these pauses as JSON and resets the measurement.
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import process from "node:process";
import { isMainThread } from "node:worker_threads";

/** Interval of the timer in ms. A measured pause can include up to this much time of the work before the pause. */
const TICK_MS = 5;

const folder = process.env.PAUSE_METER;
// npm itself may run on an older version of Node that cannot measure CPU time; such a process is not measured.
if (isMainThread && folder && "threadCpuUsage" in process) {
  const now = () => ({ wall: performance.now(), cpu: process.threadCpuUsage() });
  let longest = { wallMs: 0, cpuMs: 0 };
  let last = now();
  const tick = () => {
    const at = now();
    const wallMs = at.wall - last.wall - TICK_MS;
    const cpuMs = (at.cpu.user + at.cpu.system - last.cpu.user - last.cpu.system) / 1000;
    longest = {
      wallMs: Math.max(longest.wallMs, wallMs),
      cpuMs: Math.max(longest.cpuMs, cpuMs),
    };
    last = at;
  };
  setInterval(tick, TICK_MS).unref();
  mkdirSync(folder, { recursive: true });
  const server = createServer((socket) => {
    tick();
    socket.on("error", () => {});
    socket.end(JSON.stringify(longest));
    longest = { wallMs: 0, cpuMs: 0 };
  });
  server.listen(path.join(folder, String(process.pid))).unref();
}
