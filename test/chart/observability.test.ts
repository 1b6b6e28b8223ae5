import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { chart, podOf, program, type Rendered, render, run } from "./helm.ts";

const root = path.resolve(chart, "../..");

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

const rulesOf = (rendered: Rendered): readonly Rule[] =>
  groupsOf(rendered).flatMap(({ rules }) => rules);
const groupsOf = (rendered: Rendered): { name: string; rules: Rule[] }[] =>
  JSON.parse(JSON.stringify(rendered.get("PrometheusRule", "statehouse").spec)).groups;

let rendered: Rendered;
beforeAll(async () => {
  rendered = await render({
    networkPolicy: { prometheus: { namespaces: ["monitoring"] } },
    podMonitor: { enabled: true, labels: { release: "prometheus" } },
    prometheusRule: { enabled: true },
    dashboards: { enabled: true },
  });
});

/**
 * Returns the metrics of each service with their labels, as docs/operations.md lists them. A system test compares this
 * list with the metrics that the services serve.
 */
function documentedMetrics(): Map<string, Set<string>> {
  const text = readFileSync(path.join(root, "docs/operations.md"), "utf8");
  const rows = text.matchAll(/^\| (`statehouse_.*?) \| .*? \| (.*?) ?\| .*\|$/gm);
  const quoted = (cell: string) => [...cell.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);
  const found = new Map<string, Set<string>>();
  for (const [, names = "", labels = ""] of rows) {
    for (const name of quoted(names)) found.set(name, new Set(quoted(labels)));
  }
  return found;
}

/** The labels that Prometheus and the PodMonitor add to each series. */
const targetLabels = new Set(["namespace", "job", "component", "pod", "le"]);

/** Returns the metrics and labels in a query that do not exist. */
function unknownIn(query: string, metrics: Map<string, Set<string>>): string[] {
  const series = [...query.matchAll(/\b(statehouse_\w+)(?:\{([^}]*)\})?/g)];
  return series.flatMap(([, name = "", selectors = ""]) => {
    const labels = metrics.get(name) ?? metrics.get(name.replace(/_(bucket|sum|count)$/, ""));
    if (!labels) return [`${name} of ${query}`];
    const used = [...selectors.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = ""]) => label);
    const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, by = ""]) =>
      by.split(", "),
    );
    return [...used, ...(series.length === 1 ? grouped : [])]
      .filter((label) => !labels.has(label) && !targetLabels.has(label))
      .map((label) => `${name}{${label}} of ${query}`);
  });
}

test("every alert and every panel names metrics and labels that the services have", () => {
  const metrics = documentedMetrics();
  expect(metrics.size).toBeGreaterThan(30);
  const dashboards = Object.values(rendered.get("ConfigMap", "dashboards").data ?? {});
  expect(dashboards).toHaveLength(2);
  const queries = dashboards.flatMap((text) => {
    const { panels }: { panels: { targets: { expr: string }[] }[] } = JSON.parse(text);
    return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  });
  expect(queries.length).toBeGreaterThan(40);
  const expressions = rulesOf(rendered).map(({ expr }) => expr);
  expect([...queries, ...expressions].flatMap((query) => unknownIn(query, metrics))).toEqual([]);
});

test("every alert has a runbook, a severity and a summary, and every runbook belongs to an alert", () => {
  const alerts = rulesOf(rendered).filter(({ alert }) => alert);
  expect(alerts.length).toBeGreaterThanOrEqual(12);
  const used = alerts.map(({ alert = "", labels, annotations }) => {
    expect(["critical", "warning", "info"]).toContain(labels.severity);
    expect(annotations.summary).toMatch(/\.$/);
    expect(annotations).not.toHaveProperty("runbook");
    const file = path.join(root, annotations.runbook_url ?? "");
    expect(existsSync(file), annotations.runbook_url).toBe(true);
    const text = readFileSync(file, "utf8");
    expect(text).toContain(`\`${alert}\``);
    expect(text.match(/^## .*$/gm)).toEqual([
      "## Symptom",
      "## Diagnosis",
      "## Remedy",
      "## Verify",
    ]);
    return path.basename(file);
  });
  expect(readdirSync(path.join(root, "docs/runbooks")).toSorted()).toEqual(
    [...new Set(used)].toSorted(),
  );
});

test("promtool accepts the rules, and each alert fires for its cause and not without it", async () => {
  await using folder = await temporaryFolder();
  writeFileSync(path.join(folder.path, "rules.yaml"), stringify({ groups: groupsOf(rendered) }));
  const tests = readFileSync(path.join(import.meta.dirname, "alerts.promtool.yaml"), "utf8");
  writeFileSync(path.join(folder.path, "tests.yaml"), tests);
  const tested = new Set([...tests.matchAll(/alertname: (\w+)/g)].map(([, name]) => name));
  expect(
    rulesOf(rendered)
      .flatMap(({ alert }) => alert ?? [])
      .filter((name) => !tested.has(name)),
  ).toEqual([]);
  for (const args of [
    ["check", "rules", "rules.yaml"],
    ["test", "rules", "tests.yaml"],
  ]) {
    const { code, output, errors } = await run(program("promtool"), args, folder.path);
    expect(code, output + errors).toBe(0);
  }
});

test("the PodMonitor selects the pods of the four services of this release, and names their service", () => {
  const { metadata, spec } = rendered.get("PodMonitor", "statehouse");
  expect(metadata.labels.release).toBe("prometheus");
  expect(spec).toMatchObject({
    selector: {
      matchLabels: { "app.kubernetes.io/instance": "statehouse" },
      matchExpressions: [
        {
          key: "app.kubernetes.io/component",
          values: ["gateway", "access", "workspaces", "state"],
        },
      ],
    },
    podMetricsEndpoints: [
      { port: "ops", path: "/metrics", relabelings: [{ targetLabel: "component" }] },
    ],
  });
  for (const deployment of rendered.ofKind("Deployment")) {
    expect(podOf(deployment).containers[0]?.ports).toContainEqual({
      name: "ops",
      containerPort: expect.any(Number),
    });
  }
});

test("rules can be left out, added and labelled, and objectives changed", async () => {
  const changed = await render({
    prometheusRule: {
      enabled: true,
      exclude: ["StatehouseLockOld"],
      alertLabels: { team: "platform" },
      objectives: { availability: 99.5 },
      runbookBaseUrl: "https://wiki.example.com/statehouse/",
      extraGroups: [{ name: "own", rules: [{ alert: "Own", expr: "vector(1)" }] }],
    },
  });
  const rules = rulesOf(changed);
  const names = rules.map(({ alert }) => alert);
  expect(names).toContain("Own");
  expect(names).not.toContain("StatehouseLockOld");
  const fast = rules.find(({ alert }) => alert === "StatehouseErrorBudgetBurnsFast");
  expect(fast?.expr).toContain("14.4 * (1 - 99.5 / 100)");
  expect(fast?.labels).toEqual({ severity: "critical", team: "platform" });
  expect(fast?.annotations.runbook_url).toBe("https://wiki.example.com/statehouse/api-errors.md");
});

test("two releases of one namespace alert each for themselves", async () => {
  for (const { expr } of rulesOf(rendered)) {
    const bare = [...expr.matchAll(/\b(?:statehouse[_:][\w:]+|up)\b(?![\w:{])/g)].map(
      ([name]) => name,
    );
    expect(bare, expr).toEqual([]);
  }
});
