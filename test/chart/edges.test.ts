import { expect, test } from "vitest";
import { type KubernetesObject, render } from "./helm.ts";

const networkPolicy = { ingressController: { namespaces: ["ingress-nginx"] } };
const tls = [{ hosts: ["statehouse.example.com"], secretName: "statehouse-tls" }];

/** Host, path and Service of each rule. */
const rulesOf = (objects: readonly KubernetesObject[]) =>
  objects.flatMap(({ spec }) => {
    const rules: {
      host: string;
      http: { paths: { path: string; backend: { service: unknown } }[] };
    }[] = JSON.parse(JSON.stringify(spec)).rules;
    return rules.flatMap(({ host, http }) =>
      http.paths.map(({ path, backend }) => [host, path, backend.service]),
    );
  });

test("an Ingress sends state bytes to state without a limit, and everything else to the gateway", async () => {
  const rendered = await render({
    networkPolicy,
    ingress: { enabled: true, className: "nginx", tls },
  });
  const ingresses = rendered.ofKind("Ingress");
  expect(rulesOf(ingresses)).toEqual([
    ["statehouse.example.com", "/", { name: "statehouse-gateway", port: { name: "http" } }],
    [
      "statehouse.example.com",
      "/v1/object",
      { name: "statehouse-state-objects", port: { name: "objects" } },
    ],
  ]);
  for (const { spec } of ingresses) expect(spec).toMatchObject({ ingressClassName: "nginx", tls });
  expect(rendered.get("Ingress", "state-objects").metadata.annotations).toMatchObject({
    "nginx.ingress.kubernetes.io/proxy-body-size": "0",
    "nginx.ingress.kubernetes.io/proxy-request-buffering": "off",
    "nginx.ingress.kubernetes.io/proxy-read-timeout": "3600",
  });
  expect(rendered.get("Ingress", "gateway").metadata.annotations).toMatchObject({
    "nginx.ingress.kubernetes.io/proxy-body-size": "64m",
  });
});

test("other hosts replace that of the public address", async () => {
  const hosts = ["one.example.com", "two.example.com"];
  const rendered = await render({ networkPolicy, ingress: { enabled: true, tls, hosts } });
  expect(rulesOf(rendered.ofKind("Ingress")).map(([host]) => host)).toEqual([...hosts, ...hosts]);
});

test("an HTTPRoute sends state bytes to state and everything else to the gateway", async () => {
  const parentRefs = [{ name: "public", namespace: "gateways" }];
  const rendered = await render({ networkPolicy, httpRoute: { enabled: true, parentRefs } });
  expect(rendered.get("HTTPRoute", "gateway").spec).toEqual({
    parentRefs,
    hostnames: ["statehouse.example.com"],
    rules: [
      {
        matches: [{ path: { type: "PathPrefix", value: "/v1/object" } }],
        timeouts: { request: "0s" },
        backendRefs: [{ name: "statehouse-state-objects", port: 80 }],
      },
      {
        matches: [{ path: { type: "PathPrefix", value: "/" } }],
        timeouts: { request: "60s" },
        backendRefs: [{ name: "statehouse-gateway", port: 80 }],
      },
    ],
  });
});
