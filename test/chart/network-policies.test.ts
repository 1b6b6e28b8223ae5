import { beforeAll, expect, test } from "vitest";
import { type Rendered, render } from "./helm.ts";

interface Peer {
  podSelector?: { matchLabels: Record<string, string> };
  namespaceSelector?: { matchLabels: Record<string, string> };
}

interface Rule {
  from?: readonly Peer[];
  to?: readonly Peer[];
  ports: readonly { protocol: string; port: number }[];
}

interface Policy {
  podSelector: { matchLabels: Record<string, string> };
  ingress?: readonly Rule[];
  egress?: readonly Rule[];
}

interface Pod {
  namespace: string;
  labels: Record<string, string>;
}

const own = (component: string, instance = "statehouse"): Pod => ({
  namespace: "tools",
  labels: {
    "app.kubernetes.io/name": "statehouse",
    "app.kubernetes.io/instance": instance,
    "app.kubernetes.io/component": component,
  },
});
const elsewhere = (namespace: string): Pod => ({ namespace, labels: {} });

const matches = (selector: Record<string, string>, labels: Record<string, string>): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

/** Whether a peer in a policy of the namespace `tools` selects the pod. */
const isPeer = ({ podSelector, namespaceSelector }: Peer, pod: Pod): boolean =>
  (namespaceSelector
    ? matches(namespaceSelector.matchLabels, { "kubernetes.io/metadata.name": pod.namespace })
    : pod.namespace === "tools") && matches(podSelector?.matchLabels ?? {}, pod.labels);

/**
 * Whether Kubernetes admits a connection: either no policy selects the pod, or a rule of a selecting policy matches.
 */
function admits(
  policies: readonly Policy[],
  direction: "ingress" | "egress",
  pod: Pod,
  other: Pod,
  port: number,
): boolean {
  const selecting = policies.filter(
    ({ podSelector }) => pod.namespace === "tools" && matches(podSelector.matchLabels, pod.labels),
  );
  if (selecting.length === 0) return true;
  return selecting
    .flatMap((policy) => policy[direction] ?? [])
    .some((rule) => {
      const peers = direction === "ingress" ? rule.from : rule.to;
      const admitted = peers === undefined || peers.some((peer) => isPeer(peer, other));
      return (
        admitted && rule.ports.some(({ protocol, port: own }) => protocol === "TCP" && own === port)
      );
    });
}

const policiesOf = (rendered: Rendered): readonly Policy[] =>
  JSON.parse(JSON.stringify(rendered.ofKind("NetworkPolicy").map(({ spec }) => spec)));

let policies: readonly Policy[];
beforeAll(async () => {
  policies = policiesOf(
    await render({
      networkPolicy: {
        ingressController: { namespaces: ["ingress-nginx"] },
        prometheus: { namespaces: ["monitoring"] },
        runners: { namespaces: ["runners"] },
        database: {
          to: [
            { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "postgres" } } },
          ],
        },
      },
    }),
  );
});

const components = [
  "gateway",
  "access",
  "workspaces",
  "state",
  "migrate-access",
  "migrate-workspaces",
  "migrate-state",
  "test",
];
const places = ["ingress-nginx", "monitoring", "runners", "postgres", "other", "kube-system"];
const ports = {
  8080: "api",
  8081: "bytes",
  9101: "access",
  9102: "workspaces",
  9103: "state",
  9200: "ops",
  9201: "ops",
  9202: "ops",
  9203: "ops",
  5432: "postgres",
  4222: "nats",
  9000: "s3",
  53: "dns",
  22: "ssh",
};

/** Returns a pod of the component `name`, or, if no component has this name, a pod in the namespace `name`. */
const podOf = (name: string): Pod => (components.includes(name) ? own(name) : elsewhere(name));

const connects = (from: string, to: string, port: number): boolean =>
  admits(policies, "egress", podOf(from), podOf(to), port) &&
  admits(policies, "ingress", podOf(to), podOf(from), port);

test("exactly the connections that the services make are admitted", () => {
  const from = [...components, ...places];
  const admitted = from.flatMap((client) =>
    [...components, ...(components.includes(client) ? places : [])].flatMap((server) =>
      Object.keys(ports)
        .map(Number)
        .filter((port) => client !== server && connects(client, server, port))
        .map((port) => `${client} → ${server}:${port}`),
    ),
  );
  const anywhere = (client: string, port: number) =>
    places.map((place) => `${client} → ${place}:${port}`);
  expect(admitted.toSorted()).toEqual(
    [
      "gateway → access:9101",
      "gateway → workspaces:9102",
      "gateway → state:9103",
      "gateway → state:8081",
      "access → workspaces:9102",
      "workspaces → access:9101",
      "workspaces → state:9103",
      "state → access:9101",
      "state → workspaces:9102",
      "ingress-nginx → gateway:8080",
      "ingress-nginx → state:8081",
      "monitoring → gateway:9200",
      "monitoring → access:9201",
      "monitoring → workspaces:9202",
      "monitoring → state:9203",
      "test → gateway:8080",
      "test → access:9201",
      "test → workspaces:9202",
      "test → state:9203",
      "runners → access:9101",
      "runners → workspaces:9102",
      ...components.map((client) => `${client} → kube-system:53`),
      ...components
        .filter((client) => client !== "gateway" && client !== "test")
        .map((client) => `${client} → postgres:5432`),
      ...["access", "workspaces", "state"].flatMap((client) => anywhere(client, 4222)),
      ...anywhere("state", 9000),
    ].toSorted(),
  );
});

test("pods of another release in the namespace have no access", () => {
  expect(admits(policies, "ingress", own("access"), own("gateway", "other"), 9101)).toBe(false);
  expect(admits(policies, "egress", own("gateway"), own("access", "other"), 9101)).toBe(false);
  expect(admits(policies, "egress", own("access", "other"), own("access"), 22)).toBe(true);
});

test("the ports of stores are those of their addresses", async () => {
  const rendered = await render({
    settings: {
      NATS_URL: "nats://one.nats:4333, nats://two.nats:4444",
      S3_ENDPOINT: "https://s3.example.com",
    },
    telemetry: { endpoint: "http://collector.monitoring:4318" },
  });
  const state = policiesOf(rendered).find(
    ({ podSelector }) => podSelector.matchLabels["app.kubernetes.io/component"] === "state",
  );
  const open = state?.egress
    ?.filter(({ to }) => to === undefined)
    .map((rule) => rule.ports.map(({ port }) => port));
  expect(open).toEqual([[5432], [4333, 4444], [443], [4318]]);
});

test("without policies there are none", async () => {
  expect((await render({ networkPolicy: { enabled: false } })).ofKind("NetworkPolicy")).toEqual([]);
});
