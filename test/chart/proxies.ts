import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { z } from "zod";
import { type KubernetesObject, podOf, type Rendered } from "./helm.ts";
import { type RunningProgram, startProgram } from "./program.ts";

// Configures real proxies from a rendered Ingress or HTTPRoute, as a controller does.

/** The information that a controller has in addition to the rendered objects. */
export interface Edge {
  /** A folder for configuration and temporary files. */
  folder: string;
  /** The port on 127.0.0.1 on which the proxy receives the requests to the public address. */
  port: number;
  certificate: string;
  privateKey: string;
  /**
   * Returns the address at which a process serves the container port `port` of a component. In these tests, the process
   * takes the place of the component's pods.
   */
  addressOf(component: string, port: string): string;
}

const ingress = z.object({
  tls: z.array(z.object({ hosts: z.array(z.string()), secretName: z.string() })),
  rules: z.array(
    z.object({
      host: z.string(),
      http: z.object({
        paths: z.array(
          z.object({
            path: z.string(),
            pathType: z.literal("Prefix"),
            backend: z.object({
              service: z.object({ name: z.string(), port: z.object({ name: z.string() }) }),
            }),
          }),
        ),
      }),
    }),
  ),
});

const service = z.object({
  selector: z.record(z.string(), z.string()),
  ports: z.array(z.object({ name: z.string(), port: z.number(), targetPort: z.string() })),
});

/**
 * Returns the address of the process that serves a port of a Service, in place of the pods that the Service selects.
 */
function backendOf(
  rendered: Rendered,
  edge: Edge,
  name: string,
  port: { name: string } | { port: number },
): string {
  const { selector, ports } = service.parse(rendered.get("Service", name).spec);
  const found = ports.find((one) =>
    "name" in port ? one.name === port.name : one.port === port.port,
  );
  if (!found) throw new Error(`the Service ${name} has no port ${JSON.stringify(port)}`);
  const component = selector["app.kubernetes.io/component"] ?? "";
  const pods = podOf(rendered.get("Deployment", component));
  if (!pods.containers[0]?.ports?.some((one) => one.name === found.targetPort)) {
    throw new Error(`the pods of ${component} have no port ${found.targetPort}`);
  }
  return edge.addressOf(component, found.targetPort);
}

const seconds = z.string().regex(/^\d+$/);
const onOff = z.enum(["on", "off"]);
const PREFIX = "nginx.ingress.kubernetes.io/";

/** The annotations that the chart sets, with the defaults of ingress-nginx. Any other annotation is an error. */
const nginxAnnotations = z.strictObject({
  "proxy-body-size": z.string().default("1m"),
  "proxy-read-timeout": seconds.default("60"),
  "proxy-send-timeout": seconds.default("60"),
  "proxy-request-buffering": onOff.default("on"),
  "proxy-buffering": onOff.default("off"),
  "proxy-http-version": z.string().default("1.1"),
});

const annotationsOf = ({ metadata }: KubernetesObject) =>
  nginxAnnotations.parse(
    Object.fromEntries(
      Object.entries(metadata.annotations ?? {})
        .filter(([name]) => name.startsWith(PREFIX))
        .map(([name, value]) => [name.slice(PREFIX.length), value]),
    ),
  );

/**
 * Returns a configuration of nginx with the directives that ingress-nginx generates from the rendered Ingress objects.
 */
export function nginxConfiguration(rendered: Rendered, edge: Edge): string {
  const locations = new Map<string, string[]>();
  for (const object of rendered.ofKind("Ingress")) {
    const { tls, rules } = ingress.parse(object.spec);
    const annotations = annotationsOf(object);
    for (const { host, http } of rules) {
      if (!tls.some(({ hosts }) => hosts.includes(host))) throw new Error(`${host} has no TLS`);
      for (const { path: prefix, backend } of http.paths) {
        const address = backendOf(rendered, edge, backend.service.name, backend.service.port);
        const directives = [
          ...Object.entries({
            client_max_body_size: annotations["proxy-body-size"],
            proxy_read_timeout: `${annotations["proxy-read-timeout"]}s`,
            proxy_send_timeout: `${annotations["proxy-send-timeout"]}s`,
            proxy_request_buffering: annotations["proxy-request-buffering"],
            proxy_buffering: annotations["proxy-buffering"],
            proxy_http_version: annotations["proxy-http-version"],
            proxy_pass: `http://${address}`,
          }).map(([name, value]) => `${name} ${value};`),
          "proxy_set_header Host $http_host;",
          "proxy_set_header X-Forwarded-For $remote_addr;",
          "proxy_set_header X-Forwarded-Proto $scheme;",
        ].join(" ");
        // A path prefix of Kubernetes matches only whole elements of the path.
        const matches = prefix === "/" ? ["/"] : [`= ${prefix}`, `${prefix}/`];
        const known = locations.get(host) ?? [];
        locations.set(host, [
          ...known,
          ...matches.map((match) => `location ${match} { ${directives} }`),
        ]);
      }
    }
  }
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return [
    "daemon off;",
    ...(process.getuid?.() === 0 ? ["user root;"] : []),
    `pid ${edge.folder}/nginx.pid;`,
    "error_log stderr warn;",
    "events {}",
    "http {",
    "access_log off;",
    ...temporary.map((name) => `${name}_temp_path ${edge.folder}/${name};`),
    ...[...locations].flatMap(([host, blocks]) => [
      "server {",
      `listen 127.0.0.1:${edge.port} ssl;`,
      `server_name ${host};`,
      `ssl_certificate ${edge.folder}/tls.crt;`,
      `ssl_certificate_key ${edge.folder}/tls.key;`,
      ...blocks,
      "}",
    ]),
    "}",
    "",
  ].join("\n");
}

const route = z.object({
  hostnames: z.array(z.string()),
  rules: z.array(
    z.object({
      matches: z.array(
        z.object({ path: z.object({ type: z.literal("PathPrefix"), value: z.string() }) }),
      ),
      timeouts: z.object({ request: z.string().regex(/^\d+s$/) }),
      backendRefs: z.tuple([z.object({ name: z.string(), port: z.number() })]),
    }),
  ),
});

/**
 * Returns a configuration of HAProxy from the rendered HTTPRoute. The time limits of the route are divided by
 * `faster`, so that a test exceeds them in seconds.
 */
export function haproxyConfiguration(rendered: Rendered, edge: Edge, faster: number): string {
  const { hostnames, rules } = route.parse(rendered.get("HTTPRoute", "gateway").spec);
  const frontend: string[] = [];
  const backends: string[] = [];
  for (const [index, { matches, timeouts, backendRefs }] of rules.entries()) {
    const [{ name, port }] = backendRefs;
    const limit = (Number.parseInt(timeouts.request, 10) * 1000) / faster;
    for (const { value } of matches.map((match) => match.path)) {
      const prefix = value === "/" ? "" : ` { path ${value} } || { path_beg ${value}/ }`;
      frontend.push(`use_backend rule${index}${prefix === "" ? "" : ` if${prefix}`}`);
    }
    backends.push(
      `backend rule${index}`,
      // In an HTTPRoute, `0s` means no limit. HAProxy has no value with this meaning, so a limit of 24 days is used.
      `timeout server ${limit === 0 ? "24d" : `${limit}ms`}`,
      `server pod ${backendOf(rendered, edge, name, { port })}`,
    );
  }
  return [
    "defaults",
    "mode http",
    "timeout connect 5s",
    "timeout client 24d",
    "frontend public",
    `bind 127.0.0.1:${edge.port} ssl crt ${edge.folder}/tls.pem`,
    `http-request deny deny_status 404 unless { req.hdr(host),field(1,:) -i ${hostnames.join(" ")} }`,
    "option forwardfor",
    ...frontend,
    ...backends,
    "",
  ].join("\n");
}

/** Starts nginx or HAProxy with a configuration. */
export async function startProxy(
  program: "nginx" | "haproxy",
  configuration: string,
  { folder, port, certificate, privateKey }: Edge,
): Promise<RunningProgram> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "tls.crt"), certificate);
  await writeFile(path.join(folder, "tls.key"), privateKey);
  await writeFile(path.join(folder, "tls.pem"), `${certificate}\n${privateKey}`);
  const file = path.join(folder, `${program}.conf`);
  await writeFile(file, configuration);
  const args = program === "nginx" ? ["-c", file, "-e", "stderr"] : ["-f", file, "-db"];
  return await startProgram(program, args, () => listens(port));
}

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
