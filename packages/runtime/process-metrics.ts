import { constants, PerformanceObserver, performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { metrics, type ObservableCounter, type ObservableGauge } from "@opentelemetry/api";
import { durationHistogram } from "./instruments.ts";

const SCOPE = "statehouse/process";
/** Interval in ms at which the delay of the event loop is measured. */
const INTERVAL_MS = 20;
const DELAY_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const GC_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

const gcKinds = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, "minor"],
  [constants.NODE_PERFORMANCE_GC_MAJOR, "major"],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, "incremental"],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, "weak_callbacks"],
]);

/** Measures memory, CPU time, garbage collection and the event loop of this process. */
export function observeProcess(): Disposable {
  const stack = new DisposableStack();
  const meter = metrics.getMeter(SCOPE);
  const observe = (instrument: ObservableGauge | ObservableCounter, read: () => number) =>
    instrument.addCallback((result) => result.observe(read()));
  const gauge = (name: string, description: string, read: () => number) =>
    observe(meter.createObservableGauge(name, { description }), read);
  const counter = (name: string, description: string, read: () => number) =>
    observe(meter.createObservableCounter(name, { description }), read);

  gauge("statehouse_process_uptime_seconds", "Time since the process started", process.uptime);
  gauge("statehouse_process_resident_memory_bytes", "Memory of the process", () =>
    process.memoryUsage.rss(),
  );
  gauge(
    "statehouse_process_heap_used_bytes",
    "Used part of the heap",
    () => getHeapStatistics().used_heap_size,
  );
  gauge(
    "statehouse_process_heap_limit_bytes",
    "Size of the heap at which the process ends",
    () => getHeapStatistics().heap_size_limit,
  );
  gauge(
    "statehouse_process_external_memory_bytes",
    "Memory of buffers, outside the heap",
    () => process.memoryUsage().external,
  );
  counter("statehouse_process_cpu_seconds_total", "CPU time of all threads", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  counter(
    "statehouse_event_loop_active_seconds_total",
    "Time in which the event loop was not idle; its rate is the utilization",
    () => performance.eventLoopUtilization().active / 1000,
  );
  stack.use(measureDelay());
  stack.use(measureGarbageCollection());
  return stack;
}

/** Records how late a timer fires. A request waits for the same time while other work blocks the event loop. */
function measureDelay(): Disposable {
  const delays = durationHistogram(SCOPE, {
    name: "statehouse_event_loop_delay_seconds",
    description: "Delay of a timer that runs every 20 ms",
    boundaries: DELAY_SECONDS,
  });
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    delays.record(Math.max(0, now - last - INTERVAL_MS) / 1000);
    last = now;
  }, INTERVAL_MS).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function measureGarbageCollection(): Disposable {
  const pauses = durationHistogram(SCOPE, {
    name: "statehouse_gc_duration_seconds",
    description: "Duration of garbage collections",
    boundaries: GC_SECONDS,
  });
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      // Node's type declarations do not contain `detail`.
      const { kind } = Object(Reflect.get(entry, "detail"));
      pauses.record(entry.duration / 1000, { kind: gcKinds.get(kind) ?? "other" });
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  return { [Symbol.dispose]: () => observer.disconnect() };
}
