import type { CompareStateVersionsResponse } from "@statehouse/proto/statehouse/state/v1/state_version";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { toOneOf } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";

/** The differences between two state versions of a workspace. */
export interface StateVersionChanges {
  stateVersionId: string;
  sinceId: string;
  changes: CompareStateVersionsResponse;
}

const kinds = ["added", "changed", "removed"] as const;

const byKind = <Schema extends z.ZodType>(schema: Schema) =>
  z.object({ added: schema, changed: schema, removed: schema });

const outputShape = z.object({ name: z.string(), sensitive: z.boolean() });

/** Splits changes by their kind. */
const split = <Item extends { change: string }, Shown>(
  items: readonly Item[],
  show: (item: Item) => Shown,
) =>
  Object.fromEntries(
    kinds.map((kind) => [kind, items.filter(({ change }) => change === kind).map(show)]),
  );

/**
 * What differs between the two versions: the addresses of instances of managed resources and the names of outputs, but
 * no values.
 */
export const stateVersionChangesResource = resource<StateVersionChanges, RequestContext>({
  type: "state-version-changes",
  id: ({ stateVersionId, sinceId }) => `${stateVersionId}:${sinceId}`,
  attributes: {
    resources: [
      byKind(z.array(z.string())).describe(
        "The addresses of the first 20,000 instances that differ.",
      ),
      ({ changes }) => split(changes.resources, ({ address }) => address),
    ],
    "resource-counts": [
      byKind(z.int()),
      ({ changes }) => ({
        added: changes.resourcesAdded,
        changed: changes.resourcesChanged,
        removed: changes.resourcesRemoved,
      }),
    ],
    outputs: [
      byKind(z.array(outputShape)),
      ({ changes }) => split(changes.outputs, ({ name, sensitive }) => ({ name, sensitive })),
    ],
  },
  relationships: {
    "state-version": toOneOf({
      type: "state-versions",
      idOf: ({ stateVersionId }) => stateVersionId,
    }),
    since: toOneOf({ type: "state-versions", idOf: ({ sinceId }) => sinceId }),
  },
});
