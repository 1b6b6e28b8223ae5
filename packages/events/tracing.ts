import {
  type Attributes,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

/** Runs `work` as part of the trace `traceparent`. */
export type InTrace = <T>(
  name: string,
  traceparent: string | undefined,
  attributes: Attributes,
  work: () => Promise<T>,
) => Promise<T>;

/** Uses the OpenTelemetry of the process if it has one; otherwise only runs `work`. */
export const inOpenTelemetry: InTrace = (name, traceparent, attributes, work) => {
  const parent = traceparent ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT;
  const options = { kind: SpanKind.CONSUMER, attributes };
  return trace.getTracer("statehouse").startActiveSpan(name, options, parent, async (span) => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
};
