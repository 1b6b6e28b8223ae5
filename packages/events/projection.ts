import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { isTransient } from "@statehouse/errors";
import { decode, type Event, eventType } from "./event.ts";

/**
 * For each event type, the function that returns the id of the object to refresh, or undefined if the event names no
 * known object.
 */
type Hints<Id extends string> = Readonly<Record<string, (event: Event) => Id | undefined>>;

/**
 * Data that a service copies from another service. Any client that is allowed to publish to the bus can forge events,
 * so an event's content is never applied. The event is only a hint to call the service that owns the object, and only
 * that service's response is applied.
 */
export interface Projection<Id extends string = string> {
  hints: Hints<Id>;
  /**
   * Calls the owning service once for all objects in `ids` and applies its response. Throws `unavailable` if that
   * service does not respond; the events are then delivered again.
   */
  refresh(ids: readonly Id[]): Promise<void>;
}

/** Creates one entry of `hints`: `{ ...hint(WorkspaceUpdatedSchema, …) }`. */
export const hint = <Schema extends DescMessage, Id extends string>(
  schema: Schema,
  idOf: (message: MessageShape<Schema>) => Id | undefined,
): Hints<Id> => ({ [eventType(schema)]: (event) => idOf(decode(event, schema)) });

/** Returns its argument; infers the type of the projection's ids. */
export const projection = <Id extends string>(of: Projection<Id>): Projection<Id> => of;

/** Returns the projection that handles this event type. */
export const projectionOf = (
  projections: readonly Projection[],
  type: string,
): Projection | undefined => projections.find(({ hints }) => Object.hasOwn(hints, type));

/** Returns the event types that the projections handle. */
export const typesOf = (projections: readonly Projection[]): string[] =>
  projections.flatMap(({ hints }) => Object.keys(hints));

/**
 * Refreshes the objects with one call. If that fails, but not because a service or the database is unavailable,
 * refreshes them one by one. Returns the error of each object that failed, by id.
 */
export async function refreshAll(
  { refresh }: Pick<Projection, "refresh">,
  ids: readonly string[],
): Promise<Map<string, unknown>> {
  try {
    await refresh(ids);
    return new Map();
  } catch (error) {
    if (ids.length === 1 || isTransient(error)) return new Map(ids.map((id) => [id, error]));
  }
  const failures = new Map<string, unknown>();
  for (const id of ids) {
    try {
      await refresh([id]);
    } catch (error) {
      failures.set(id, error);
    }
  }
  return failures;
}
