import { isTransient } from "@statehouse/errors";
import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";
import { traceId } from "./tracing.ts";

export type Logger = PinoLogger;

export interface LoggerOptions {
  service: string;
  /** The lowest level that is logged: trace, debug, info, warn, error, fatal or silent. */
  level?: string;
  /** `numbers` is the format of pino; `names` has the level's name, and the time in ISO 8601. */
  format?: "numbers" | "names";
  destination?: DestinationStream;
}

/**
 * The paths of values that must never appear in a log, at each of the three nesting depths at which log lines can
 * contain them.
 */
const secrets = [
  "authorization",
  "token",
  "password",
  "secret",
  "cookie",
  "state",
  "assertion",
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/**
 * Returns what a line contains of an error. If a dependency is unavailable, the reason is enough: the stack would only
 * name the code that waited for it.
 */
function describe(error: Error): object {
  const described = pino.stdSerializers.err(error);
  if (!isTransient(error)) return described;
  return { type: described.type, message: described.message };
}

/** Creates a JSON logger whose lines contain the current trace id and never contain a token or state. */
export function createLogger({
  service,
  level = "info",
  format = "numbers",
  destination,
}: LoggerOptions): Logger {
  const options = {
    ...(format === "names" && {
      formatters: { level: (label: string) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    }),
    name: service,
    level,
    serializers: { err: describe },
    redact: { paths: secrets, censor: "[redacted]" },
    mixin: () => {
      const id = traceId();
      return id ? { trace_id: id } : {};
    },
  };
  return destination ? pino(options, destination) : pino(options);
}
