import { type Attributes, type Counter, type Histogram, metrics } from "@opentelemetry/api";
import { withTimeout } from "./with-timeout.ts";

/** Upper bounds of the buckets for the durations of requests and calls, in seconds. */
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export interface DurationOptions {
  name: `statehouse_${string}_seconds`;
  description: string;
  /** Upper bounds of the buckets in seconds; if omitted, the bounds for requests are used. */
  boundaries?: number[];
}

/** Creates a histogram of durations in seconds. */
export const durationHistogram = (
  scope: string,
  { name, description, boundaries = REQUEST_SECONDS }: DurationOptions,
): Histogram =>
  metrics
    .getMeter(scope)
    .createHistogram(name, { description, advice: { explicitBucketBoundaries: boundaries } });

/**
 * Creates a counter whose series exist from the start with the value 0, because Prometheus computes a rate from two
 * values of a series: without the 0, the first increment would not appear in any rate.
 */
export function counterFromZero(
  scope: string,
  name: `statehouse_${string}_total`,
  { description, series = [{}] }: { description: string; series?: readonly Attributes[] },
): Counter {
  const counter = metrics.getMeter(scope).createCounter(name, { description });
  for (const attributes of series) counter.add(0, attributes);
  return counter;
}

export interface ScrapedGaugeOptions {
  name: `statehouse_${string}`;
  description: string;
  attributes?: Attributes;
  /** How long a value is served before it is read again, in ms. */
  maxAgeMs: number;
  /** Reads the value; undefined if there is none. */
  read: () => Promise<number | undefined>;
}

/** How long a scrape waits for a value, in ms. After that, the previous value is served. */
const READ_MS = 1000;

/**
 * Creates a gauge whose value is read only while metrics are scraped, for values that need a database statement. While
 * reading fails, the gauge is absent.
 */
export function scrapedGauge(
  scope: string,
  { name, description, attributes, maxAgeMs, read }: ScrapedGaugeOptions,
): AsyncDisposable {
  const gauge = metrics.getMeter(scope).createObservableGauge(name, { description });
  let value: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const renew = async () => {
    try {
      value = await read();
      readAt = performance.now();
    } catch {
      // The cause is not logged, because readiness reports it.
      value = undefined;
    } finally {
      reading = undefined;
    }
  };
  const observe: Parameters<typeof gauge.addCallback>[0] = async (result) => {
    if (performance.now() - readAt >= maxAgeMs) {
      reading ??= renew();
      await withTimeout(READ_MS, reading).catch(() => {});
    }
    if (value !== undefined) result.observe(value, attributes);
  };
  gauge.addCallback(observe);
  return {
    async [Symbol.asyncDispose]() {
      gauge.removeCallback(observe);
      await reading;
    },
  };
}

/** Why a credential was not accepted. */
const failures = {
  token: ["missing", "refused"],
  assertion: ["missing", "refused", "foreign_certificate", "caller_not_allowed"],
} as const;

/** Creates the function that counts credentials that were not accepted. */
export function authenticationFailures<Credential extends keyof typeof failures>(
  credential: Credential,
): (reason: (typeof failures)[Credential][number]) => void {
  const counter = counterFromZero(
    "statehouse/runtime",
    "statehouse_authentication_failures_total",
    {
      description: "Tokens and assertions that were missing or not accepted",
      series: failures[credential].map((reason) => ({ credential, reason })),
    },
  );
  return (reason) => counter.add(1, { credential, reason });
}
