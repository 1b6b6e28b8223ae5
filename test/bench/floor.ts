import { databaseOf } from "@statehouse/standalone/running-database";
import { startChild } from "./child.ts";
import type { Candidate } from "./load.ts";
import type { RunningStart, Statement } from "./npm-start.ts";
import { processMicros } from "./processes.ts";

export interface FloorQuestion {
  statements: readonly (Pick<Statement, "text" | "values"> & { url: string })[];
  /** The body of every response. */
  body: Uint8Array;
}

/**
 * Starts the floor of a request: a server with `node:http` and pg in a separate process, which executes the statements
 * that the services executed for this request, in the same databases, and sends the same body.
 */
export async function startFloor(
  start: RunningStart,
  {
    statements,
    body,
    connections,
  }: { statements: readonly Statement[]; body: Uint8Array; connections: number },
): Promise<Candidate & AsyncDisposable> {
  const child = startChild<FloorQuestion, number>(new URL("./floor-handler.ts", import.meta.url));
  const port = await child.ask({
    body,
    statements: statements.map(({ database, text, values }) => ({
      url: databaseOf(start.data, serviceOf(database)),
      text,
      values,
    })),
  });
  return {
    name: "the floor",
    urls: [`http://127.0.0.1:${port}`],
    token: "",
    sequences: Array.from({ length: connections }, () => [
      { method: "GET", path: "/", expect: 200 },
    ]),
    cpu: () => {
      const used = start.cpu();
      return new Map([
        ["main thread", processMicros(child.pid)],
        ...[...used].filter(([part]) => part === "PostgreSQL"),
      ]);
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

const serviceOf = (database: string) => {
  const services = ["access", "workspaces", "state"] as const;
  const service = services.find((name) => database === `statehouse_${name}`);
  if (!service) throw new Error(`no service has the database ${database}`);
  return service;
};
