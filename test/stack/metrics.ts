/** One value of a metric. */
export interface Sample {
  /** The name of the metric, without the suffixes of histograms. */
  metric: string;
  /** The name with suffix, for example `…_seconds_bucket`. */
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const HISTOGRAM = /_(?:bucket|sum|count)$/;

/** Reads the metrics of a service, without the labels `otel_scope_…`, which identify the instrumentation. */
export async function scrape(opsPort: string | number | undefined): Promise<Sample[]> {
  const response = await fetch(`http://127.0.0.1:${opsPort}/metrics`);
  return parseMetrics(await response.text());
}

/** Parses Prometheus' text format. */
export function parseMetrics(text: string): Sample[] {
  const histograms = new Set(
    [...text.matchAll(/^# TYPE (\w+) histogram$/gm)].map(([, name]) => name ?? ""),
  );
  return text.split("\n").flatMap((line) => {
    const [, name = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
    if (name === "") return [];
    const base = name.replace(HISTOGRAM, "");
    return [
      {
        metric: histograms.has(base) ? base : name,
        name,
        labels: Object.fromEntries(
          [...labels.matchAll(LABEL)]
            .map(([, label = "", text = ""]) => [label, text] as const)
            .filter(([label]) => !label.startsWith("otel_scope_")),
        ),
        value: Number(value),
      },
    ];
  });
}

/** Returns the sum of the samples with this name and these labels. */
export const total = (
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number =>
  samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, is]) => sample.labels[label] === is))
    .reduce((sum, { value }) => sum + value, 0);
