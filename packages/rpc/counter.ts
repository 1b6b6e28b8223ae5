import { metrics } from "@opentelemetry/api";

let calls = 0;

/** Number of calls of this process to other services, including in-process ones. */
export const callCount = (): number => calls;

export const countCall = (): void => {
  calls++;
};

/** Exposes the counter to Prometheus. */
export function exposeCallCount(): void {
  metrics
    .getMeter("statehouse/rpc")
    .createObservableCounter("statehouse_rpc_calls_total", {
      description: "Calls made to other services",
    })
    .addCallback((result) => result.observe(calls));
}
