// Loaded into `npm start` by `NODE_OPTIONS=--import=…`. Counts the SQL statements and round trips that requests wait
// for, from the bytes that the process sends to PostgreSQL, so that it works with any version of the services. Each
// connection to the socket `<METER>/<pid>` receives the counts since the last connection as JSON; a connection that
// sends `stop` also ends the counting, because it would add to the CPU time of requests.
import { AsyncLocalStorage } from "node:async_hooks";
import http from "node:http";
import { createServer, Socket } from "node:net";
import path from "node:path";
import process from "node:process";
import { isMainThread } from "node:worker_threads";

/** The version of the protocol in PostgreSQL's startup message. */
const PROTOCOL = 196_608;

/**
 * A connection to PostgreSQL: the texts of its prepared statements, the statement whose values were sent last, and the
 * requests that wait for its response.
 *
 * @typedef {{ text: string, values: (string | null)[] }} Statement
 * @typedef {{ database: string | undefined, texts: Map<string, string>, bound: Statement, waiting: Set<Request> }} Connection
 * @typedef {{ statements: (Statement & Pick<Connection, "database">)[], pending: Set<Connection>, ended: boolean }} Request
 */

/**
 * The request for which the current code runs.
 *
 * @type {AsyncLocalStorage<Request>}
 */
const current = new AsyncLocalStorage();
/** @type {WeakMap<Socket, Connection>} */
const connections = new WeakMap();
let counts = { statements: 0, roundTrips: 0 };
/** @type {Request["statements"]} */
let last = [];

/** @type {(bytes: Buffer, from: number) => string} */
const cString = (bytes, from) => bytes.toString("utf8", from, bytes.indexOf(0, from));

/** @type {(socket: Socket, bytes: Buffer) => Connection | undefined} */
function connectionOf(socket, bytes) {
  const known = connections.get(socket);
  if (known || bytes.length < 8 || bytes.readInt32BE(4) !== PROTOCOL) return known;
  const parameters = bytes.toString("utf8", 8).split("\0");
  const database = parameters[parameters.indexOf("database") + 1];
  const bound = { text: "", values: [] };
  /** @type {Connection} */
  const connection = { database, texts: new Map(), bound, waiting: new Set() };
  connections.set(socket, connection);
  socket.on("data", () => {
    for (const request of connection.waiting) request.pending.delete(connection);
    connection.waiting.clear();
  });
  return undefined;
}

/**
 * Returns a statement from the message that binds its values.
 *
 * @type {(connection: Connection, bytes: Buffer) => Statement}
 */
function boundOf({ texts }, bytes) {
  const name = bytes.indexOf(0) + 1;
  let at = bytes.indexOf(0, name) + 1;
  at += 2 + 2 * bytes.readInt16BE(at);
  const count = bytes.readInt16BE(at);
  at += 2;
  const values = Array.from({ length: count }, () => {
    const length = bytes.readInt32BE(at);
    at += 4 + Math.max(0, length);
    return length < 0 ? null : bytes.toString("utf8", at - length, at);
  });
  return { text: texts.get(cString(bytes, name)) ?? "", values };
}

/** @type {(socket: Socket, bytes: Buffer) => void} */
function sent(socket, bytes) {
  const connection = connectionOf(socket, bytes);
  if (!connection) return;
  const statements = [];
  for (let at = 0; at + 5 <= bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const message = bytes.subarray(at + 5, at + 1 + bytes.readInt32BE(at + 1));
    const type = String.fromCharCode(bytes[at] ?? 0);
    if (type === "P") {
      const name = cString(message, 0);
      connection.texts.set(name, cString(message, message.indexOf(0) + 1));
    } else if (type === "B") connection.bound = boundOf(connection, message);
    else if (type === "E") statements.push(connection.bound);
    else if (type === "Q") statements.push({ text: cString(message, 0), values: [] });
  }
  const request = current.getStore();
  if (!request || request.ended || statements.length === 0) return;
  counts.statements += statements.length;
  if (request.pending.size === 0) counts.roundTrips++;
  request.pending.add(connection);
  connection.waiting.add(request);
  const { database } = connection;
  request.statements.push(...statements.map((statement) => ({ database, ...statement })));
}

// npm and the script that starts Node also load this file; they serve no requests.
const folder = process.env.METER;
if (isMainThread && folder) {
  const { emit } = http.Server.prototype;
  /** @type {(this: http.Server, event: string | symbol, ...args: any[]) => boolean} */
  http.Server.prototype.emit = function (event, ...args) {
    if (event !== "request") return emit.call(this, event, ...args);
    /** @type {Request} */
    const request = { statements: [], pending: new Set(), ended: false };
    last = request.statements;
    args[1].once("close", () => {
      request.ended = true;
    });
    return current.run(request, () => emit.call(this, event, ...args));
  };
  const { _write, _writev } = Socket.prototype;
  Socket.prototype._write = function (chunk, encoding, callback) {
    sent(this, Buffer.from(chunk, encoding));
    return _write.call(this, chunk, encoding, callback);
  };
  Socket.prototype._writev = function (chunks, callback) {
    const parts = chunks.map(({ chunk, encoding }) => Buffer.from(chunk, encoding));
    sent(this, Buffer.concat(parts));
    return _writev?.call(this, chunks, callback);
  };
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (command) => {
      if (String(command) === "stop") {
        http.Server.prototype.emit = emit;
        Object.assign(Socket.prototype, { _write, _writev });
      }
      socket.end(JSON.stringify({ ...counts, last }));
      counts = { statements: 0, roundTrips: 0 };
    });
  });
  server.listen(path.join(folder, String(process.pid))).unref();
}
