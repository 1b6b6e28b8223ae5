import { z } from "zod";

/**
 * A to-one linkage that can be taken away: its id; "" for a null `data`; undefined when the body does not
 * speak of it.
 */
export const nullableLinkage = (type: string) =>
  z
    .object({ data: z.object({ type: z.literal(type), id: z.string() }).nullish() })
    .nullish()
    .transform((relationship) => {
      if (!relationship || relationship.data === undefined) return undefined;
      return relationship.data?.id ?? "";
    });

/** The ids of a to-many linkage; undefined when the body does not speak of it. */
export const linkages = (type: string) =>
  z
    .object({ data: z.array(z.object({ type: z.literal(type), id: z.string() })).nullish() })
    .nullish()
    .transform((relationship) => relationship?.data?.map(({ id }) => id));

/**
 * The default agent pool that a body names: the relationship, or the attribute that go-tfe sends of projects.
 * Either taken away is ""; undefined when the body does not speak of it.
 */
export const defaultAgentPoolIn = ({
  attributes,
  relationships,
}: {
  attributes: { "default-agent-pool-id"?: string | undefined };
  relationships: { "default-agent-pool"?: string | undefined };
}): string | undefined =>
  relationships["default-agent-pool"] ?? attributes["default-agent-pool-id"];
