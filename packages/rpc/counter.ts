import { metrics } from "@opentelemetry/api";

let calls = 0;

/** Returns the number of calls from this process to other services, including calls in the same process. */
export const callCount = (): number => calls;

export const countCall = (): void => {
  calls++;
};

/** Exposes the number of calls to Prometheus. */
export function exposeCallCount(): void {
  metrics
    .getMeter("statehouse/rpc")
    .createObservableCounter("statehouse_rpc_calls_total", {
      description: "Calls made to other services",
    })
    .addCallback((result) => result.observe(calls));
}
