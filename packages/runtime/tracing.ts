import { randomUUID } from "node:crypto";
import {
  type Attributes,
  context,
  INVALID_SPAN_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";

export type { Attributes, Span } from "@opentelemetry/api";

// The context manager is installed on import instead of by `startTelemetry`, because logs and error responses need a
// trace id even if no spans are exported.
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

const tracer = trace.getTracer("statehouse");
const noSpan = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
let recording = false;

/**
 * Turns the recording of spans on or off. `startTelemetry` calls this if spans are exported; otherwise spans cost
 * nothing.
 */
export function recordSpans(on: boolean): void {
  recording = on;
}

/** Returns whether spans are exported. If not, callers need not build the name and attributes of a span. */
export const spansAreRecorded = (): boolean => recording;

/** Runs `work` inside a span. If spans are not exported, only calls `work`. */
export function withSpan<T>(
  name: string,
  attributes: Attributes,
  work: (span: Span) => T,
  kind: SpanKind = SpanKind.INTERNAL,
): T {
  if (!recording) return work(noSpan);
  return tracer.startActiveSpan(name, { attributes, kind }, (span) => settle(span, work));
}

/** Works like `withSpan`, for calls to other processes. */
export function withClientSpan<T>(
  name: string,
  attributes: Attributes,
  work: (span: Span) => T,
): T {
  return withSpan(name, attributes, work, SpanKind.CLIENT);
}

/**
 * Runs `work` in the outermost span of a request or an event. The span continues the trace of `parent` (a W3C
 * traceparent) or starts a new trace. `name` is a route or a method and never a path, because paths contain tokens.
 */
export function withServerSpan<T>(
  name: string,
  parent: string | undefined,
  attributes: Attributes,
  work: (span: Span) => T,
  kind: SpanKind = SpanKind.SERVER,
): T {
  if (!recording) {
    // Spans are not exported, so an existing trace is passed on unchanged. If the caller is in the same process, the
    // trace is already in the context.
    const active = trace.getSpanContext(context.active());
    if (active && parent?.startsWith(active.traceId, TRACE_ID_START)) return work(noSpan);
    const own = parseTraceparent(parent) ?? newTrace();
    return context.with(trace.setSpanContext(context.active(), own), work, undefined, noSpan);
  }
  const remote = parseTraceparent(parent);
  const outer = trace.deleteSpan(context.active());
  const base = remote ? trace.setSpanContext(outer, remote) : outer;
  return tracer.startActiveSpan(name, { attributes, kind }, base, (span) => settle(span, work));
}

/** Returns the trace id of the current request, for logs and error responses. */
export function traceId(): string | undefined {
  return trace.getSpanContext(context.active())?.traceId;
}

/** Returns the W3C traceparent to send with an outgoing call or to store with an event. */
export function traceparent(): string | undefined {
  const active = trace.getSpanContext(context.active());
  if (!active) return undefined;
  const flags = active.traceFlags.toString(16).padStart(2, "0");
  return `00-${active.traceId}-${active.spanId}-${flags}`;
}

function settle<T>(span: Span, work: (span: Span) => T): T {
  let result: T;
  try {
    result = work(span);
  } catch (error) {
    fail(span, error);
    throw error;
  }
  if (!(result instanceof Promise)) {
    span.end();
    return result;
  }
  return result.then(
    (value) => {
      span.end();
      return value;
    },
    (error: unknown) => {
      fail(span, error);
      throw error;
    },
  ) as T;
}

function fail(span: Span, error: unknown): void {
  // Only the class of the error is recorded: error messages can contain SQL values and URLs.
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", error instanceof Error ? error.name : typeof error);
  span.end();
}

/** The position of the trace id in a traceparent. */
const TRACE_ID_START = 3;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/;

function parseTraceparent(header: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = (header && TRACEPARENT.exec(header)) || [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId))
    return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

/** Returns a new trace. The span id is taken from the trace id, because no span is exported. */
function newTrace(): SpanContext {
  const traceId = randomUUID().replaceAll("-", "");
  return { traceId, spanId: traceId.slice(16), traceFlags: TraceFlags.NONE };
}
