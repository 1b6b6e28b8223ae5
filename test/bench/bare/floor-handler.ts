import { createReadStream } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { Pool } from "pg";
import type { FloorQuestion } from "./floor.ts";

const rowOf =
  "select id, name, description, locked, created_at, updated_at from workspaces where id = $1";
const insertRecord = `
  insert into audit_records (id, organization, actor_type, actor_id, token_id, address, action,
    resource_type, resource_id, changed_attributes, outcome, request_id)
  values ($1, 'org-0000000000000001', 'user', 'user-0000000000000001', 'at-0000000000000001', '127.0.0.1',
    'state-version.download', 'state-version', $2, '{}', 'succeeded', $1)`;

// This server does the minimal work for each request: it inserts an audit record if the product writes one, and sends a
// file, or a body with a row that it reads with a prepared statement. It does not authenticate the request.
process.once("message", ({ databaseUrl, bodies, recorded, file, bytes }: FloorQuestion) => {
  const pool = new Pool({ connectionString: databaseUrl, max: 20 });
  let records = 0;
  const record = (id: string) =>
    pool.query({
      name: "record",
      text: insertRecord,
      values: [`ae-${process.pid}-${++records}`, id],
    });
  const show = async (name: string, id: string, response: ServerResponse): Promise<void> => {
    if (recorded.includes(name)) await record(id);
    const { rows } = await pool.query({ name: "row", text: rowOf, values: [id] });
    const text = JSON.stringify({ ...bodies[name], row: rows[0] });
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    });
    response.end(text);
  };
  const download = async (id: string, response: ServerResponse): Promise<void> => {
    await record(id);
    response.writeHead(200, {
      "content-type": "application/octet-stream",
      "content-length": bytes,
    });
    await pipeline(createReadStream(file), response);
  };
  const server = createServer((request, response) => {
    const [, name = "", id = ""] = request.url?.split("/") ?? [];
    const answered = name === "download" ? download(id, response) : show(name, id, response);
    answered.catch((error: unknown) => {
      // The load generator closes its connections at the end of a round, possibly during a response.
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, "127.0.0.1", () => {
    process.send?.((server.address() as AddressInfo).port);
  });
});
process.on("disconnect", () => process.exit(0));
