import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { isTransient } from "@statehouse/errors";
import { decode, type Event, eventType } from "./event.ts";

/** The id of the object that an event is about, by event type; undefined: the event is about nothing known. */
type Hints<Id extends string> = Readonly<Record<string, (event: Event) => Id | undefined>>;

/**
 * Data that a service derives from another service's. Any client of the bus may have published an event, so that
 * it decides nothing: it is a hint to call the owner of the object, and only the owner's response is applied.
 */
export interface Projection<Id extends string = string> {
  hints: Hints<Id>;
  /**
   * Calls the owner once for all these objects and applies its responses. Throws `unavailable` if the owner does not
   * respond; the events are then delivered again.
   */
  refresh(ids: readonly Id[]): Promise<void>;
}

/** One entry of `hints`: `{ ...hint(WorkspaceUpdatedSchema, …) }`. */
export const hint = <Schema extends DescMessage, Id extends string>(
  schema: Schema,
  idOf: (message: MessageShape<Schema>) => Id | undefined,
): Hints<Id> => ({ [eventType(schema)]: (event) => idOf(decode(event, schema)) });

/** Types the ids of a projection. */
export const projection = <Id extends string>(of: Projection<Id>): Projection<Id> => of;

/** The projection that an event type belongs to. */
export const projectionOf = (
  projections: readonly Projection[],
  type: string,
): Projection | undefined => projections.find(({ hints }) => Object.hasOwn(hints, type));

/** The event types of the projections. */
export const typesOf = (projections: readonly Projection[]): string[] =>
  projections.flatMap(({ hints }) => Object.keys(hints));

/**
 * Refreshes the objects together, or one by one if they fail together and the owner is available. Returns the error of
 * each object that failed.
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
