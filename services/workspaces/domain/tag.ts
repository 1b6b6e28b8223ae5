import { notFound } from "@statehouse/errors";
import type { OrganizationId } from "./ids.ts";

/** A flat tag of an organization: it exists while a workspace has it. */
export interface Tag {
  id: TagId;
  name: string;
  organizationName: string;
  /** Number of workspaces that have the tag. */
  instanceCount: number;
  createdAt: Date;
}

/** A tag in a request. */
export type TagRef = { id: string } | { name: string };

/** The fields of the event about a tag that no workspace of the organization has any more. */
export interface DeletedTag {
  id: TagId;
  organizationId: OrganizationId;
  name: string;
  revision: bigint;
}

export const tagDeleted = (tag: DeletedTag) =>
  ({ type: "tagDeleted", revision: tag.revision, tag }) as const;

export type TagEvent = ReturnType<typeof tagDeleted>;

export const tagNotFound = () => notFound("tag");

export type TagId = `tag-${string}`;
