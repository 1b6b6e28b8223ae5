import { expect, test } from "vitest";
import { createDurations } from "./durations.ts";
import { metricsText } from "./metrics.ts";
import { startTelemetry } from "./telemetry.ts";

const histogram = { scope: "test", description: "Time to boil", boundaries: [0.1, 1] };

/** Returns the samples of a histogram without the labels that identify the instrumentation. */
async function samplesOf(name: string): Promise<string[]> {
  await using _ = await startTelemetry({ service: "test", env: {} });
  return (await metricsText())
    .split("\n")
    .filter((line) => line.includes(name))
    .map((line) => line.replace(/,?otel_scope_\w+="[^"]*"/g, "").replace("{,", "{"));
}

test("durations are served as cumulative buckets, by their attributes", async () => {
  const name = "statehouse_boiling_seconds";
  const first = createDurations({ ...histogram, name });
  for (const seconds of [0.05, 0.1, 0.5, 7]) first.record(seconds, { cup: "tea" });
  createDurations({ ...histogram, name }).record(0.1, { cup: "tea" });
  first.record(1, { cup: "coffee" });
  expect(await samplesOf(name)).toEqual([
    `# HELP ${name} Time to boil`,
    `# TYPE ${name} histogram`,
    `${name}_count{cup="tea"} 5`,
    `${name}_sum{cup="tea"} 7.75`,
    `${name}_bucket{cup="tea",le="0.1"} 3`,
    `${name}_bucket{cup="tea",le="1"} 4`,
    `${name}_bucket{cup="tea",le="+Inf"} 5`,
    `${name}_count{cup="coffee"} 1`,
    `${name}_sum{cup="coffee"} 1`,
    `${name}_bucket{cup="coffee",le="0.1"} 0`,
    `${name}_bucket{cup="coffee",le="1"} 1`,
    `${name}_bucket{cup="coffee",le="+Inf"} 1`,
  ]);
});

test("a histogram has at most 2,001 series, and counts all values", async () => {
  const name = "statehouse_pouring_seconds";
  const durations = createDurations({ ...histogram, name });
  for (let cup = 0; cup < 2500; cup++) durations.record(0.1, { cup });
  const counts = (await samplesOf(name)).filter((line) => line.startsWith(`${name}_count`));
  expect(counts).toHaveLength(2001);
  expect(counts.at(-1)).toBe(`${name}_count{otel_metric_overflow="true"} 500`);
});
