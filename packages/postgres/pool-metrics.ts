import { metrics } from "@opentelemetry/api";
import { durationHistogram } from "@statehouse/runtime";
import type { Pool } from "pg";

const SCOPE = "statehouse/postgres";
const WAIT_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5];

/** Exposes the connections of a service's pool to Prometheus, and how long requests wait for one. */
export function observePool(pool: Pool, service: string, size: number): Disposable {
  const stack = new DisposableStack();
  const meter = metrics.getMeter(SCOPE);
  const gauge = (
    name: string,
    description: string,
    values: () => readonly [number, Record<string, string>?][],
  ) => {
    const created = meter.createObservableGauge(name, { description });
    const observe: Parameters<typeof created.addCallback>[0] = (result) => {
      for (const [value, attributes] of values()) result.observe(value, { service, ...attributes });
    };
    created.addCallback(observe);
    stack.defer(() => created.removeCallback(observe));
  };
  gauge(
    "statehouse_database_connections",
    "Open connections of the pool, by state: used or idle",
    () => [
      [pool.totalCount - pool.idleCount, { state: "used" }],
      [pool.idleCount, { state: "idle" }],
    ],
  );
  gauge(
    "statehouse_database_connections_limit",
    "The most connections that the pool opens: DATABASE_POOL_SIZE",
    () => [[size]],
  );
  gauge(
    "statehouse_database_waiting",
    "Transactions and statements that wait for a connection",
    () => [[pool.waitingCount]],
  );
  measureWaits(pool, service);
  return stack;
}

type Connect = Pool["connect"];
type Connected = Parameters<Parameters<Connect>[0]>;

/** Measures how long calls of `connect` take. The pool itself passes a callback; other code gets a promise. */
function measureWaits(pool: Pool, service: string): void {
  const waits = durationHistogram(SCOPE, {
    name: "statehouse_database_connection_wait_seconds",
    description: "Time until a connection of the pool was available or the attempt failed",
    boundaries: WAIT_SECONDS,
  });
  const connect: Connect = pool.connect.bind(pool);
  const measured = (callback?: (...connected: Connected) => void) => {
    const startedAt = performance.now();
    const record = () => waits.record((performance.now() - startedAt) / 1000, { service });
    if (!callback) return connect().finally(record);
    return connect((...connected) => {
      record();
      callback(...connected);
    });
  };
  Reflect.set(pool, "connect", measured);
}
