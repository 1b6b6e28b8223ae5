import { notFound } from "@statehouse/errors";
import type { OrganizationId } from "../ids-domain.ts";

/** A flat tag of an organization. It exists as long as at least one workspace has it. */
export interface Tag {
  id: TagId;
  name: string;
  organizationName: string;
  /** Number of workspaces that have the tag. */
  instanceCount: number;
  createdAt: Date;
}

/** A reference to a tag in a request. */
export type TagRef = { id: string } | { name: string };

/** The fields of the event that is published when a request deletes a tag from all workspaces of the organization. */
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
