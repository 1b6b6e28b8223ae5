import { writeFile } from "node:fs/promises";
import path from "node:path";
import { auditMigrations } from "@statehouse/audit";
import { freshDatabase } from "@statehouse/postgres/testing";
import { temporaryFolder } from "@statehouse/testing";
import { startChild } from "../child.ts";
import type { Contender } from "../contest.ts";
import type { Counted } from "../processes.ts";
import { analyze, schema } from "./bare.ts";

export interface FloorQuestion {
  databaseUrl: string;
  /** Bodies of responses, keyed by name. The server adds the row that it has read to each response. */
  bodies: Readonly<Record<string, object>>;
  /**
   * The keys of `bodies` for which the server inserts an audit record before it responds. Downloads always insert one.
   */
  recorded: readonly string[];
  /** The file that every download sends. */
  file: string;
  /** The size of the file in bytes. */
  bytes: number;
}

/**
 * A minimal server that uses node:http and pg in a separate process. Its cost is the floor with which the product's
 * reads are compared.
 */
export interface Floor extends AsyncDisposable {
  /** Returns a `Contender` that requests `name` from the floor server. `name` is `download` or a key of `bodies`. */
  contender(name: string): Contender;
}

/** Starts the floor server with a database that has as many rows as the product's database. */
export async function startFloor({
  bodies,
  recorded,
  content,
  connections,
  postgres,
}: {
  bodies: FloorQuestion["bodies"];
  recorded: FloorQuestion["recorded"];
  content: Uint8Array;
  connections: number;
  postgres: Counted;
}): Promise<Floor> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder());
  const file = path.join(folder.path, "content");
  await writeFile(file, content);
  const database = starting.use(
    await freshDatabase({
      contextName: "floor",
      migrations: [...auditMigrations, { name: "bare", up: schema }],
    }),
  );
  await analyze(database.url);
  const child = starting.use(
    startChild<FloorQuestion, number>(new URL("./floor-handler.ts", import.meta.url)),
  );
  const port = await child.ask({
    databaseUrl: database.url,
    bodies,
    recorded,
    file,
    bytes: content.length,
  });
  const started = starting.move();
  return {
    contender: (name) => ({
      name: `node:http${[...recorded, "download"].includes(name) ? ", record" : ""}, ${name === "download" ? "file" : "SELECT"}`,
      plan: {
        origin: `http://127.0.0.1:${port}`,
        headers: {},
        connections: Array.from({ length: connections }, (_, index) => [
          {
            method: "GET" as const,
            path: `/${name}/ws-${String(index + 1).padStart(16, "0")}`,
            expect: 200,
          },
        ]),
      },
      processes: [{ name: "handler", pid: child.pid }, postgres],
    }),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
