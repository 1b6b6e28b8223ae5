import type { OrganizationId, TagId } from "./ids.ts";

/** A flat tag of an organization: it is there as long as some workspace has it. */
export interface Tag {
  id: TagId;
  name: string;
  organizationName: string;
  /** How many workspaces have it. */
  instanceCount: number;
  createdAt: Date;
}

/** How a request names a tag. */
export type TagRef = { id: string } | { name: string };

/** What is told of a tag that an organization has no more. */
export interface DeletedTag {
  id: TagId;
  organizationId: OrganizationId;
  name: string;
  revision: bigint;
}

export const tagDeleted = (tag: DeletedTag) =>
  ({ type: "tagDeleted", revision: tag.revision, tag }) as const;

export type TagEvent = ReturnType<typeof tagDeleted>;
