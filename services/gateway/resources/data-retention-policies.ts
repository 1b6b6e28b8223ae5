import type { DataRetentionPolicy } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import type { RequestContext } from "../http/route.ts";
import { toOne } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";

/** The type of a policy's document, by its kind. */
export const dataRetentionTypes = {
  "delete-older": "data-retention-policy-delete-olders",
  "dont-delete": "data-retention-policy-dont-deletes",
} as const;

/** One resource for each type, because the kind decides the type of the document. */
const typed = <Kind extends keyof typeof dataRetentionTypes>(
  kind: Kind,
  attributes: (policy: DataRetentionPolicy) => object,
) =>
  resource<DataRetentionPolicy, RequestContext>({
    type: dataRetentionTypes[kind],
    id: ({ id }) => id,
    attributes,
  });

const deleteOlder = typed("delete-older", ({ deleteOlderThanNDays }) => ({
  "delete-older-than-n-days": deleteOlderThanNDays ?? null,
}));
const dontDelete = typed("dont-delete", () => ({}));

export const dataRetentionResourceOf = ({ kind }: DataRetentionPolicy) =>
  kind === "delete-older" ? deleteOlder : dontDelete;

/** The document's own policy; null if it inherits another's. */
export const ownDataRetentionPolicy = <
  Parent extends { dataRetentionPolicy?: DataRetentionPolicy | undefined },
>() =>
  toOne<Parent, RequestContext>({
    linkage: ({ dataRetentionPolicy: policy }) =>
      policy ? { type: dataRetentionResourceOf(policy).type, id: policy.id } : null,
  });
