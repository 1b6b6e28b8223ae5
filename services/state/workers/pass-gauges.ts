import { metrics } from "@opentelemetry/api";
import type { PassName, PassProgress } from "../store/passes.ts";

/** Shows how far a pass has come, whichever replica takes it there; call it with what is known now. */
export function passGauges(pass: PassName): (progress: PassProgress) => void {
  const meter = metrics.getMeter("statehouse/state");
  let last: PassProgress | undefined;
  const gauge = (name: string, description: string, value: (of: PassProgress) => number) =>
    meter.createObservableGauge(name, { description }).addCallback((result) => {
      if (last) result.observe(value(last), { pass });
    });
  gauge("pass_seen", "Workspaces, or blobs, that the pass under way has seen", ({ seen }) => seen);
  gauge("pass_found", "What it found among them", ({ found }) => found);
  gauge("pass_age_seconds", "Since the last whole pass ended", ({ finishedAt }) =>
    finishedAt ? (Date.now() - finishedAt.getTime()) / 1000 : Number.NaN,
  );
  return (progress) => {
    last = progress;
  };
}
