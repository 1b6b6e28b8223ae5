import { randomInt } from "node:crypto";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import path from "node:path";

/** Time in ms after which kube-proxy uses a changed list of a Service's pods. */
const PROXY_LAG_MS = 3000;
/** Time in ms after which the names of headless Services change; includes the cache of the DNS server. */
const NAMES_LAG_MS = 6000;

/** A Service of the chart. */
export interface Endpoints {
  name: string;
  component: string;
  port: number;
  /**
   * The port of the pods. Undefined if the Service is headless; its name then resolves to the addresses of the pods.
   */
  targetPort: number | undefined;
}

/** The Services of one cluster. They use a changed set of ready pods only after a delay. */
export interface Network extends AsyncDisposable {
  /** The file that replaces /etc/hosts of every pod. */
  readonly hosts: string;
  /** The file that replaces /etc/resolv.conf of every pod. */
  readonly resolver: string;
  newAddress(): string;
  /** Makes `services` available to the pods. */
  serve(services: readonly Endpoints[]): Promise<void>;
  /** Sets the addresses of the ready pods of a component. The Services use them after a delay. */
  announce(component: string, addresses: readonly string[]): void;
  /** Whether the Services use the latest addresses of all components. */
  settled(): boolean;
  urlOf(service: string): string;
  /** The number of connections that pods have refused because they were not listening. */
  readonly refused: number;
}

/**
 * Fixed size of the hosts file in bytes; its content is never longer. A single write replaces the whole file, so that
 * no reader sees a part of it.
 */
const HOSTS_BYTES = 8192;

/** Creates a simulated network that uses loopback addresses. Its `hosts` and `resolv.conf` are written to `folder`. */
export function createNetwork(folder: string): Network {
  const prefix = `127.${randomInt(10, 250)}.${randomInt(250)}`;
  const hosts = path.join(folder, "hosts");
  const resolver = path.join(folder, "resolv.conf");
  writeFileSync(resolver, `nameserver ${prefix}.1\noptions attempts:1 timeout:1\n`);
  writeFileSync(hosts, " ".repeat(HOSTS_BYTES));
  const services: Endpoints[] = [];
  const clusterAddresses = new Map<string, string>();
  /** The pods to which kube-proxy connects, by component. */
  const proxied = new Map<string, readonly string[]>();
  /** The pods whose addresses the DNS server returns, by component. */
  const named = new Map<string, readonly string[]>();
  const pending = new Set<NodeJS.Timeout>();
  const closing = new AsyncDisposableStack();
  let addresses = 10;
  let refused = 0;

  const writeHosts = () => {
    const lines = services.flatMap(({ name, component, targetPort }) => {
      const own = clusterAddresses.get(name);
      const all = targetPort === undefined ? (named.get(component) ?? []) : own ? [own] : [];
      return all.map((address) => `${address} ${name}\n`);
    });
    const text = `127.0.0.1 localhost\n${lines.join("")}`;
    if (text.length > HOSTS_BYTES) throw new Error("too many addresses");
    const file = openSync(hosts, "r+");
    writeSync(file, text.padEnd(HOSTS_BYTES), 0);
    closeSync(file);
  };
  const later = (ms: number, work: () => void) => {
    const timer = setTimeout(() => {
      pending.delete(timer);
      work();
    }, ms);
    pending.add(timer);
  };
  /**
   * Connects to a pod that `proxied` contains. If the pod refuses the connection, tries again after a short delay,
   * possibly with another pod.
   */
  const forward = (incoming: Socket, { component, targetPort = 0 }: Endpoints) => {
    const known = proxied.get(component) ?? [];
    const address = known[randomInt(Math.max(1, known.length))];
    if (incoming.destroyed) return;
    if (address === undefined) {
      incoming.resetAndDestroy();
      return;
    }
    const outgoing = connect(targetPort, address);
    let connected = false;
    outgoing.once("connect", () => {
      connected = true;
      incoming.pipe(outgoing);
      outgoing.pipe(incoming);
      incoming.on("close", () => outgoing.destroy());
    });
    outgoing.on("error", () => {
      if (connected) return incoming.resetAndDestroy();
      refused++;
      setTimeout(() => forward(incoming, { name: "", component, port: 0, targetPort }), 50);
      return undefined;
    });
    outgoing.on("close", () => {
      if (connected) incoming.destroySoon();
    });
  };

  return {
    hosts,
    resolver,
    newAddress: () => `${prefix}.${addresses++}`,
    get refused() {
      return refused;
    },
    async serve(added) {
      services.push(...added);
      for (const service of added) {
        if (service.targetPort === undefined) continue;
        const address = `${prefix}.${addresses++}`;
        const server = createServer((incoming) => {
          incoming.on("error", () => {});
          forward(incoming, service);
        });
        const sockets = new Set<Socket>();
        server.on("connection", (socket) => {
          sockets.add(socket);
          socket.once("close", () => sockets.delete(socket));
        });
        await new Promise<void>((resolve, reject) => {
          server.once("error", reject);
          server.listen(service.port, address, resolve);
        });
        clusterAddresses.set(service.name, address);
        closing.defer(async () => {
          server.close();
          for (const socket of sockets) socket.destroy();
        });
      }
      writeHosts();
    },
    announce(component, ready) {
      later(PROXY_LAG_MS, () => proxied.set(component, ready));
      later(NAMES_LAG_MS, () => {
        named.set(component, ready);
        writeHosts();
      });
    },
    settled: () => pending.size === 0,
    urlOf(name) {
      const service = services.find((one) => one.name === name);
      return `http://${clusterAddresses.get(name)}:${service?.port}`;
    },
    async [Symbol.asyncDispose]() {
      for (const timer of pending) clearTimeout(timer);
      await closing.disposeAsync();
    },
  };
}
