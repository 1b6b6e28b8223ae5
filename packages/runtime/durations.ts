import { type Attributes, ValueType } from "@opentelemetry/api";
import { emptyResource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  type HistogramMetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";

/** A histogram of durations in seconds. */
export interface Durations {
  record(seconds: number, attributes?: Attributes): void;
}

interface Histogram {
  scope: string;
  name: string;
  description: string;
  /** Upper bounds of the buckets, in ascending order. */
  boundaries: number[];
}

/** The values with one combination of attributes. */
interface Series {
  attributes: Attributes;
  startedAt: number;
  /** The number of values in each bucket; the last one has no upper bound. */
  counts: number[];
  sum: number;
}

/**
 * The maximum number of series of one histogram, as in the SDK. All further combinations of attributes share one more
 * series.
 */
const MAX_SERIES = 2000;
const overflow: Attributes = { "otel.metric.overflow": true };

/** The series of all histograms, by scope and name of the histogram, and by the values of their attributes. */
const histograms = new Map<string, { histogram: Histogram; series: Map<string, Series> }>();

/**
 * Creates a histogram. Those with the same scope and name share their series. A request records about five durations,
 * and the histograms of the SDK sort and print the attributes of each: section (t) of the bench shows the difference as
 * `@opentelemetry`.
 */
export function createDurations(histogram: Histogram): Durations {
  const { scope, name, boundaries } = histogram;
  const { series } = histograms.get(`${scope} ${name}`) ?? { series: new Map<string, Series>() };
  histograms.set(`${scope} ${name}`, { histogram, series });
  const seriesOf = (attributes: Attributes): Series => {
    // The names need not be compared, because each histogram is recorded with one set of names.
    const key = Object.values(attributes).join("\n");
    const known = series.get(key);
    if (known) return known;
    if (series.size >= MAX_SERIES && attributes !== overflow) return seriesOf(overflow);
    const counts = [...boundaries, Number.POSITIVE_INFINITY].map(() => 0);
    const added = { attributes, startedAt: Date.now(), counts, sum: 0 };
    series.set(key, added);
    return added;
  };
  return {
    record(seconds, attributes = {}) {
      const found = seriesOf(attributes);
      const fitting = boundaries.findIndex((upper) => seconds <= upper);
      const bucket = fitting < 0 ? boundaries.length : fitting;
      found.counts[bucket] = (found.counts[bucket] ?? 0) + 1;
      found.sum += seconds;
    },
  };
}

/** Returns the histograms that contain values, for the exporter. */
export const durationsProducer: MetricProducer = {
  collect: async () => ({
    resourceMetrics: {
      resource: emptyResource(),
      scopeMetrics: [...histograms.values()]
        .filter(({ series }) => series.size > 0)
        .map(({ histogram, series }) => ({
          scope: { name: histogram.scope },
          metrics: [dataOf(histogram, [...series.values()])],
        })),
    },
    errors: [],
  }),
};

const dataOf = (
  { name, description, boundaries }: Histogram,
  series: readonly Series[],
): HistogramMetricData => ({
  descriptor: { name, description, unit: "", valueType: ValueType.DOUBLE },
  aggregationTemporality: AggregationTemporality.CUMULATIVE,
  dataPointType: DataPointType.HISTOGRAM,
  dataPoints: series.map(({ attributes, startedAt, counts, sum }) => ({
    attributes,
    startTime: timeOf(startedAt),
    endTime: timeOf(Date.now()),
    value: {
      buckets: { boundaries, counts },
      sum,
      count: counts.reduce((total, count) => total + count, 0),
    },
  })),
});

const timeOf = (ms: number): [seconds: number, nanos: number] => [
  Math.floor(ms / 1000),
  (ms % 1000) * 1_000_000,
];
