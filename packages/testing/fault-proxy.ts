import { readFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, connect as tlsConnect } from "node:tls";
import type { TlsFiles } from "@statehouse/rpc";

type Direction = "requests" | "answers";

/** Returns whether a chunk of the transferred data, as TCP delivers it, is the expected one. */
type Recognizes = (piece: Buffer) => boolean;

/** Matches a chunk that contains all of these strings. PostgreSQL, NATS and protobuf send strings unchanged. */
export const mentions =
  (...texts: readonly string[]): Recognizes =>
  (piece) =>
    texts.every((text) => piece.includes(text));

export interface HeldChunk {
  direction: Direction;
  when: Recognizes;
  /** Matches only on a connection that has already carried a chunk that `after` matches. */
  after?: Recognizes;
}

/** A proxy between two processes. Tests use it to hold, delay or cut connections without changing the product. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /**
   * Forwards everything until a matching chunk arrives, then holds that chunk and all later data of its connection, in
   * both directions. Resolves when the chunk has arrived.
   */
  hold(chunk: HeldChunk): Promise<void>;
  /** Stops forwarding on all connections, including new ones: the server accepts connections but does not respond. */
  freeze(): void;
  /** Stops forwarding on existing connections without closing them. New connections work. */
  blackhole(): void;
  /** Delays every chunk to the server by `ms` milliseconds. */
  delay(ms: number): void;
  /** Ends all connections and refuses new ones until `heal` is called. */
  partition(): void;
  heal(): void;
  /** Forwards the held data, and ends every hold, freeze, blackhole and delay. */
  release(): void;
}

interface Trap extends HeldChunk {
  sprung: () => void;
  /** Connections that have carried a chunk that `after` matches. */
  armed: WeakSet<Connection>;
}

interface Connection {
  client: Socket;
  server: Socket;
  held: (() => void)[] | undefined;
  /** Chunks that are delayed by `delay` and not yet forwarded. */
  late: (() => void)[];
}

/**
 * The certificates for mutual TLS on both sides of a proxy, with which the proxy can read the transferred data. The
 * proxy presents the server's certificate to clients, and the client's certificate to the server.
 */
export interface ProxyTls {
  /** The name of the server in its certificate. */
  serverName: string;
  server: TlsFiles;
  client: TlsFiles;
}

/** HTTP/2, over which gRPC runs. */
const ALPN = { ALPNProtocols: ["h2"] };

const pemsOf = ({ caFile, certFile, keyFile }: TlsFiles) => ({
  ca: readFileSync(caFile),
  cert: readFileSync(certFile),
  key: readFileSync(keyFile),
});

/** The two ends of a proxy: how it listens, and how it connects to `port` of this machine. */
function endsOf(port: number, tls: ProxyTls | undefined) {
  const host = "127.0.0.1";
  if (!tls) {
    return {
      listen: (accept: (client: Socket) => void): Server => createServer(accept),
      open: (): Socket => connect(port, host),
    };
  }
  const { serverName: servername } = tls;
  const server = { ...ALPN, ...pemsOf(tls.server), requestCert: true, rejectUnauthorized: true };
  const client = { ...ALPN, ...pemsOf(tls.client), host, port, servername };
  return {
    listen: (accept: (client: Socket) => void): Server => createTlsServer(server, accept),
    open: (): Socket => tlsConnect(client),
  };
}

/**
 * Starts a proxy that listens on a free port and forwards to `port` of this machine. With `tls` both connections are
 * encrypted, and only clients with a certificate of the same authority are accepted.
 */
export async function startFaultProxy(port: number, tls?: ProxyTls): Promise<FaultProxy> {
  const { listen, open } = endsOf(port, tls);
  const connections = new Set<Connection>();
  let traps: Trap[] = [];
  let delayMs = 0;
  let isCut = false;
  let isFrozen = false;

  const pass = (connection: Connection, direction: Direction, piece: Buffer) => {
    const to = direction === "requests" ? connection.server : connection.client;
    const write = () => {
      if (!to.destroyed) to.write(piece);
    };
    const trap = traps.find(
      (set) =>
        (!set.after || set.armed.has(connection)) && set.direction === direction && set.when(piece),
    );
    traps = traps.filter((set) => set !== trap);
    for (const { after, armed } of traps) {
      if (direction === "requests" && after?.(piece)) armed.add(connection);
    }
    if (trap || isFrozen) connection.held ??= [];
    if (connection.held) connection.held.push(write);
    else if (direction === "requests" && (delayMs > 0 || connection.late.length > 0)) {
      connection.late.push(write);
      // Each timer forwards the oldest chunk, so that chunks stay in order even if timers fire in another order.
      setTimeout(() => connection.late.shift()?.(), delayMs);
    } else write();
    trap?.sprung();
  };

  const server = listen((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const connection: Connection = {
      client,
      server: open(),
      held: undefined,
      late: [],
    };
    connections.add(connection);
    client.on("data", (piece: Buffer) => pass(connection, "requests", piece));
    connection.server.on("data", (piece: Buffer) => pass(connection, "answers", piece));
    const end = () => {
      connections.delete(connection);
      client.destroy();
      connection.server.destroy();
    };
    for (const socket of [client, connection.server]) socket.on("error", end).on("close", end);
  });
  // A connection whose handshake fails, for example because its client was killed, is not forwarded.
  server.on("tlsClientError", () => {});
  /** All accepted connections, including those whose TLS handshake is not complete. */
  const accepted = new Set<Socket>();
  server.on("connection", (socket) => {
    accepted.add(socket);
    socket.once("close", () => accepted.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const cutAll = () => {
    for (const { server: remote } of connections) remote.destroy();
    for (const socket of accepted) socket.destroy();
  };

  return {
    port: typeof address === "object" && address ? address.port : 0,
    hold: (chunk) =>
      new Promise((resolve) => {
        traps.push({ ...chunk, sprung: resolve, armed: new WeakSet() });
      }),
    freeze: () => {
      isFrozen = true;
    },
    blackhole: () => {
      for (const connection of connections) connection.held ??= [];
    },
    delay: (ms) => {
      delayMs = ms;
    },
    partition: () => {
      isCut = true;
      cutAll();
    },
    heal: () => {
      isCut = false;
    },
    release: () => {
      traps = [];
      delayMs = 0;
      isFrozen = false;
      for (const connection of connections) {
        const held = connection.held ?? [];
        connection.held = undefined;
        for (const write of held) write();
      }
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cutAll();
      }),
  };
}
