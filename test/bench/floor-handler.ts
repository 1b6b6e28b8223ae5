import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "pg";
import type { FloorQuestion } from "./floor.ts";

/** The id of a record of the audit trail. A repeated statement needs a new one. */
const RECORD_ID = /"id":"ae-[^"]+"/g;

// This server executes the same statements for each request, one after the other as prepared statements, and sends the
// same body. It does nothing else: it reads no path, and does not authenticate the request.
process.once("message", ({ statements, body }: FloorQuestion) => {
  const pools = new Map<string, Pool>();
  const poolOf = (url: string) => {
    const pool = pools.get(url) ?? new Pool({ connectionString: url, max: 20 });
    pools.set(url, pool);
    return pool;
  };
  let records = 0;
  const repeatable = (value: string | null) =>
    value?.replace(RECORD_ID, () => `"id":"ae-${process.pid}-${++records}"`) ?? null;
  const prepared = statements.map(
    ({ url, text, values }, index) =>
      (): Promise<unknown> =>
        poolOf(url).query({ name: `s${index}`, text, values: values.map(repeatable) }),
  );
  const bytes = Buffer.from(body);
  const server = createServer(async (_, response) => {
    try {
      for (const execute of prepared) await execute();
      response.writeHead(200, { "content-length": bytes.length }).end(bytes);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, "127.0.0.1", () => {
    process.send?.((server.address() as AddressInfo).port);
  });
});
process.on("disconnect", () => process.exit(0));
