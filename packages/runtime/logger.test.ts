import { expect, test } from "vitest";
import { createLogger } from "./logger.ts";
import { traceId, withServerSpan } from "./tracing.ts";

function capture() {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { lines, logger: createLogger({ service: "state", destination }) };
}

test("a line contains the trace id of its request", () => {
  const { lines, logger } = capture();
  withServerSpan("GET /x", undefined, {}, () => {
    logger.info("inside");
    expect(lines[0]?.trace_id).toBe(traceId());
  });
  logger.info("outside");
  expect(lines[1]).not.toHaveProperty("trace_id");
});

test("lines never contain tokens or state", () => {
  const { lines, logger } = capture();
  logger.info({
    token: "t0p",
    request: { headers: { authorization: "Bearer t0p" } },
    version: { state: "t0p" },
  });
  expect(JSON.stringify(lines)).not.toContain("t0p");
});
