// This module is loaded into a service with `node --import`. At SIGUSR2 it fills the heap of the service to 93 per cent
// and keeps the event loop busy.
import process from "node:process";
import { getHeapStatistics } from "node:v8";

process.once("SIGUSR2", () => {
  const held: unknown[] = [];
  const fill = () => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    if (used < 0.93 * limit) held.push(new Array(100_000).fill(held.length));
  };
  const fillAndWork = () => {
    const until = performance.now() + 20;
    while (performance.now() < until) fill();
    setImmediate(fillAndWork);
  };
  fillAndWork();
});
