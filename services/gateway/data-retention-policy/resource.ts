import type { DataRetentionPolicy } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { z } from "zod";
import { editionsOf } from "../http/editions.ts";
import type { RequestContext } from "../http/route.ts";
import { toOne } from "../jsonapi/relationship.ts";
import { type Attributes, type Relationship, resource } from "../jsonapi/resource.ts";

/** The JSON:API type of a policy, by its kind. */
export const dataRetentionTypes = {
  "delete-older": "data-retention-policy-delete-olders",
  "dont-delete": "data-retention-policy-dont-deletes",
} as const;

/** Creates the resource of one kind of policy. Each kind has its own JSON:API type. */
const typed = <Kind extends keyof typeof dataRetentionTypes>(
  kind: Kind,
  attributes: Attributes<DataRetentionPolicy, RequestContext>,
) =>
  resource<DataRetentionPolicy, RequestContext>({
    type: dataRetentionTypes[kind],
    id: ({ id }) => id,
    attributes,
    relationships: {
      // The policy of the installation has no target.
      target: {
        description: {
          types: ["workspaces", "organizations"],
          many: false,
          data: "always",
          link: true,
          optional: true,
          resources: () => [],
        },
        show(policy) {
          const data = targetOf(policy);
          return data && { data, links: { related: `/api/v2/${data.type}/${data.id}` } };
        },
      },
    },
    links: (policy) => {
      const { type, id } = targetOf(policy) ?? { type: "admin", id: "general-settings" };
      return { self: `/api/v2/${type}/${id}/relationships/data-retention-policy` };
    },
  });

/** Returns the workspace or organization to which the policy belongs; undefined for the policy of the installation. */
const targetOf = ({ workspaceId, organizationName }: DataRetentionPolicy) =>
  workspaceId
    ? { type: "workspaces", id: workspaceId }
    : organizationName
      ? { type: "organizations", id: organizationName }
      : undefined;

/** Returns the number of days after which a policy deletes state versions; undefined if it keeps them. */
export const stateVersionDaysOf = ({
  deleteOlderThanNDays,
  stateVersionsDeleteAfterNDays,
}: DataRetentionPolicy): number | undefined =>
  stateVersionsDeleteAfterNDays ?? deleteOlderThanNDays;

/** Describes in words how long state versions are kept; null if they are not deleted. */
export const retentionInWords = (days: number | undefined): string | null =>
  days === undefined ? null : `${days} ${days === 1 ? "day" : "days"}`;

const deleteOlder = typed("delete-older", {
  "delete-older-than-n-days": [
    z.int().min(0).nullable(),
    ({ deleteOlderThanNDays }) => deleteOlderThanNDays ?? null,
  ],
  "state-versions-delete-after-n-days": [
    z
      .int()
      .min(0)
      .nullable()
      .describe("Applies to state versions instead of `delete-older-than-n-days`."),
    ({ stateVersionsDeleteAfterNDays }) => stateVersionsDeleteAfterNDays ?? null,
  ],
});
const dontDelete = typed("dont-delete", {});

/** The resources of all kinds of policies. */
export const dataRetentionResources = [deleteOlder, dontDelete] as const;

export const dataRetentionResourceOf = ({ kind }: DataRetentionPolicy) =>
  kind === "delete-older" ? deleteOlder : dontDelete;

/**
 * Declares the relationship to an item's own policy; null if the item inherits a policy. Editions without policies omit
 * the relationship.
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
