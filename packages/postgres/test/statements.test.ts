import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger, withServerSpan } from "@statehouse/runtime";
import { startTelemetry } from "@statehouse/runtime/telemetry";
import { expect, test } from "vitest";
import { openDatabase } from "../database.ts";
import { queryIn } from "../transaction.ts";

const migrations = [
  { name: "0001_tokens", up: "create table tokens (id text primary key, hash text not null)" },
];

test("the request's trace contains SQL and no values", async () => {
  let exported = "";
  const collector = createServer(async (request, response) => {
    exported += (await buffer(request)).toString("utf8");
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const { port } = collector.address() as AddressInfo;
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${port}`;
  const telemetry = await startTelemetry({ service: "access" });

  await using fresh = await freshDatabase({ contextName: "tokens", migrations });
  const logger = createLogger({ service: "access", level: "silent" });
  const options = { contextName: "tokens", url: fresh.url, entities: [], migrations };
  await using database = await openDatabase({ ...options, logger });
  const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await withServerSpan("POST /tokens", parent, {}, async () => {
    await database.transaction(async (em) => {
      await queryIn(em, "insert into tokens values ($1, $2)", ["at-1", "s3cret"]);
      await queryIn(em, "select id from tokens where hash = $1", ["s3cret"]);
    });
  });
  await telemetry[Symbol.asyncDispose]();
  await new Promise((resolve) => collector.close(resolve));

  const spans = JSON.parse(exported).resourceSpans[0].scopeSpans[0].spans;
  expect(spans.map((span: { name: string }) => span.name)).toEqual([
    "INSERT tokens",
    "SELECT tokens",
    "POST /tokens",
  ]);
  for (const { traceId } of spans) expect(traceId).toBe("0af7651916cd43dd8448eb211c80319c");
  expect(exported).toContain("select id from tokens where hash = $1");
  expect(exported).not.toContain("s3cret");
});
