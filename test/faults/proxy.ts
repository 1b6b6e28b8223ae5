import { connect, createServer, type Server, type Socket } from "node:net";

type Direction = "requests" | "answers";

/** A wire between two parts that tests hold, slow down and cut, from outside the product. */
export interface Proxy extends AsyncDisposable {
  readonly port: number;
  /**
   * Lets everything pass until a piece in that direction satisfies `when`; that piece and all after it, both ways,
   * on its connection, stay here. Resolves when it has happened.
   */
  hold(direction: Direction, when: (piece: Buffer) => boolean): Promise<void>;
  /** Delays every piece towards the server, in ms. */
  delay(ms: number): void;
  /** Ends all connections and refuses new ones, until `mend`. */
  cut(): void;
  mend(): void;
  /** Lets go of what is held, and holds no more. */
  release(): void;
}

interface Trap {
  direction: Direction;
  when: (piece: Buffer) => boolean;
  sprung: () => void;
}

interface Wire {
  client: Socket;
  server: Socket;
  held: (() => void)[] | undefined;
}

/** Listens on a free port and passes on to `port` of this machine. */
export async function startProxy(port: number): Promise<Proxy> {
  const wires = new Set<Wire>();
  let traps: Trap[] = [];
  let delayMs = 0;
  let isCut = false;

  const pass = (wire: Wire, direction: Direction, piece: Buffer) => {
    const to = direction === "requests" ? wire.server : wire.client;
    const write = () => {
      if (!to.destroyed) to.write(piece);
    };
    const trap = traps.find((set) => set.direction === direction && set.when(piece));
    if (trap) {
      wire.held ??= [];
      traps = traps.filter((set) => set !== trap);
    }
    if (wire.held) wire.held.push(write);
    else if (delayMs > 0 && direction === "requests") setTimeout(write, delayMs);
    else write();
    trap?.sprung();
  };

  const server: Server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const wire: Wire = { client, server: connect(port, "127.0.0.1"), held: undefined };
    wires.add(wire);
    client.on("data", (piece: Buffer) => pass(wire, "requests", piece));
    wire.server.on("data", (piece: Buffer) => pass(wire, "answers", piece));
    const end = () => {
      wires.delete(wire);
      client.destroy();
      wire.server.destroy();
    };
    for (const socket of [client, wire.server]) socket.on("error", end).on("close", end);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const cutAll = () => {
    for (const { client, server: remote } of wires) {
      client.destroy();
      remote.destroy();
    }
  };

  return {
    port: typeof address === "object" && address ? address.port : 0,
    hold: (direction, when) =>
      new Promise((resolve) => traps.push({ direction, when, sprung: resolve })),
    delay: (ms) => {
      delayMs = ms;
    },
    cut: () => {
      isCut = true;
      cutAll();
    },
    mend: () => {
      isCut = false;
    },
    release: () => {
      traps = [];
      delayMs = 0;
      for (const wire of wires) {
        const held = wire.held ?? [];
        wire.held = undefined;
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
