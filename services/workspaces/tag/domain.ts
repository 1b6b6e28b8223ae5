import { notFound } from "@statehouse/errors";

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

export const tagNotFound = () => notFound("tag");

export type TagId = `tag-${string}`;
