import { writeFile } from "node:fs/promises";
import path from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { reservePort } from "../stack/port.ts";
import { program, type Rendered } from "./helm.ts";
import { type RunningProgram, startProgram } from "./program.ts";

// Runs Prometheus with the rendered PodMonitor and PrometheusRule, as the Prometheus operator does.

/** Seconds between two scrapes. */
const INTERVAL = 3;
/**
 * The length in seconds that replaces every range (`[5m]`) in the rules. It spans several scrapes, because `rate` needs
 * at least two samples.
 */
const RANGE = 5 * INTERVAL;

/** A pod whose metrics are read. */
export interface Target {
  component: string;
  opsPort: number;
}

/** The labels of an alert that fires. */
export type Firing = Readonly<Record<string, string>>;

export interface Prometheus extends RunningProgram {
  /** Returns the alerts that fire now. */
  firing(): Promise<Firing[]>;
  /** Returns the number of series in the result of a query. Throws if Prometheus refuses the query. */
  query(expression: string): Promise<number>;
  /** Returns the names of all metrics that were read or recorded. */
  metricNames(): Promise<Set<string>>;
}

const podMonitor = z.object({
  podMetricsEndpoints: z.tuple([
    z.object({
      path: z.string(),
      relabelings: z.array(
        z.strictObject({ sourceLabels: z.array(z.string()), targetLabel: z.string() }),
      ),
    }),
  ]),
});

const response = z.object({ status: z.literal("success"), data: z.unknown() });
const alerts = z.object({
  alerts: z.array(z.object({ state: z.string(), labels: z.record(z.string(), z.string()) })),
});
const vector = z.object({ result: z.array(z.unknown()) });

const groups = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(z.looseObject({ expr: z.string(), for: z.string().optional() })),
    }),
  ),
});

/**
 * Returns the rendered rules with shorter times: all ranges are 15 seconds, and a condition has to hold for two
 * scrapes. An alert that normally needs a fault of several hours then fires after seconds. Expressions and thresholds
 * are not changed.
 */
function fasterRules(rendered: Rendered): z.output<typeof groups> {
  const rules = groups.parse(rendered.get("PrometheusRule", "statehouse").spec);
  return {
    groups: rules.groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => ({
        ...rule,
        expr: rule.expr.replaceAll(/\[\d+[smhd]\]/g, `[${RANGE}s]`),
        ...(rule.for === undefined ? {} : { for: `${2 * INTERVAL}s` }),
      })),
    })),
  };
}

/** Starts Prometheus. Disposal stops it. */
export async function startPrometheus(
  folder: string,
  rendered: Rendered,
  targets: readonly Target[],
): Promise<Prometheus> {
  const { namespace, name } = rendered.get("PodMonitor", "statehouse").metadata;
  const [endpoint] = podMonitor.parse(
    rendered.get("PodMonitor", "statehouse").spec,
  ).podMetricsEndpoints;
  const configuration = {
    global: {
      scrape_interval: `${INTERVAL}s`,
      scrape_timeout: `${INTERVAL}s`,
      evaluation_interval: "1s",
    },
    rule_files: ["rules.yaml"],
    scrape_configs: [
      {
        job_name: `${namespace}/${name}`,
        metrics_path: endpoint.path,
        relabel_configs: endpoint.relabelings.map(({ sourceLabels, targetLabel }) => ({
          source_labels: sourceLabels,
          target_label: targetLabel,
        })),
        static_configs: targets.map(({ component, opsPort }) => ({
          targets: [`127.0.0.1:${opsPort}`],
          labels: {
            namespace,
            pod: `statehouse-${component}-0`,
            __meta_kubernetes_pod_label_app_kubernetes_io_component: component,
          },
        })),
      },
    ],
  };
  const file = path.join(folder, "prometheus.yaml");
  await writeFile(file, stringify(configuration));
  await writeFile(path.join(folder, "rules.yaml"), stringify(fasterRules(rendered)));
  const address = `127.0.0.1:${await reservePort()}`;
  const get = async (place: string): Promise<unknown> => {
    const received = await fetch(`http://${address}/api/v1/${place}`);
    const text = await received.text();
    if (!received.ok) throw new Error(`${place}: ${text}`);
    return response.parse(JSON.parse(text)).data;
  };
  const server = await startProgram(
    program("prometheus"),
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${path.join(folder, "series")}`,
      `--web.listen-address=${address}`,
      "--log.level=warn",
    ],
    async () => (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok === true,
  );
  return {
    ...server,
    async firing() {
      const found = alerts.parse(await get("alerts"));
      return found.alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels);
    },
    async query(expression) {
      const parameters = new URLSearchParams({ query: expression });
      return vector.parse(await get(`query?${parameters}`)).result.length;
    },
    async metricNames() {
      return new Set(z.array(z.string()).parse(await get("label/__name__/values")));
    },
  };
}
