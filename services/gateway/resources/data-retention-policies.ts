import type { DataRetentionPolicy } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { z } from "zod";
import { editionsOf } from "../http/editions.ts";
import type { RequestContext } from "../http/route.ts";
import { toOne } from "../jsonapi/relationship.ts";
import { type Relationship, resource } from "../jsonapi/resource.ts";
import type { Shape } from "../jsonapi/shape.ts";

/** The JSON:API type of a policy, by its kind. */
export const dataRetentionTypes = {
  "delete-older": "data-retention-policy-delete-olders",
  "dont-delete": "data-retention-policy-dont-deletes",
} as const;

/** Creates the resource of one kind of policy. Each kind has its own JSON:API type. */
const typed = <Kind extends keyof typeof dataRetentionTypes>(
  kind: Kind,
  shape: Shape,
  attributes: (policy: DataRetentionPolicy) => object,
) =>
  resource<DataRetentionPolicy, RequestContext>({
    type: dataRetentionTypes[kind],
    id: ({ id }) => id,
    shape,
    attributes,
  });

const deleteOlder = typed(
  "delete-older",
  { "delete-older-than-n-days": z.int().min(0).nullable() },
  ({ deleteOlderThanNDays }) => ({ "delete-older-than-n-days": deleteOlderThanNDays ?? null }),
);
const dontDelete = typed("dont-delete", {}, () => ({}));

/** The resources of all kinds of policies. */
export const dataRetentionResources = [deleteOlder, dontDelete] as const;

export const dataRetentionResourceOf = ({ kind }: DataRetentionPolicy) =>
  kind === "delete-older" ? deleteOlder : dontDelete;

/**
 * Declares the relationship to an item's own policy; null if the item inherits a policy. Editions without policies omit
 * it.
 */
export function ownDataRetentionPolicy<
  Parent extends { dataRetentionPolicy?: DataRetentionPolicy | undefined },
>(): Relationship<Parent, RequestContext> {
  const { description, show } = toOne<Parent, RequestContext>({
    types: Object.values(dataRetentionTypes),
    linkage: ({ dataRetentionPolicy: policy }) =>
      policy ? { type: dataRetentionResourceOf(policy).type, id: policy.id } : null,
  });
  const editions = editionsOf("data-retention-policies");
  return {
    description: { ...description, optional: true, nullable: true, editions },
    show: (item, context) =>
      context.edition.has("data-retention-policies") ? show(item, context) : undefined,
  };
}
