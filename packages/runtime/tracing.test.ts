import { expect, test } from "vitest";
import { traceId, traceparent, withServerSpan, withSpan } from "./tracing.ts";

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("a request continues the trace of its traceparent", () => {
  withServerSpan("GET /workspaces/:id", parent, {}, () => {
    expect(traceId()).toBe("0af7651916cd43dd8448eb211c80319c");
    expect(traceparent()).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/);
  });
});

test.each([undefined, "", "junk", `00-${"0".repeat(32)}-b7ad6b7169203331-01`])(
  "a request without a valid traceparent (%s) starts a trace, even without export",
  (header) => {
    withServerSpan("GET /", header, {}, () => expect(traceId()).toMatch(/^(?!0+$)[0-9a-f]{32}$/));
  },
);

test("the trace id follows the request through awaits and inner spans and ends with it", async () => {
  const ids = await withServerSpan("GET /", undefined, {}, async () => {
    const first = traceId();
    await new Promise((resolve) => setImmediate(resolve));
    return [first, await withSpan("inner", {}, async () => traceId())];
  });
  expect(ids[0]).toBe(ids[1]);
  expect(traceId()).toBeUndefined();
});
