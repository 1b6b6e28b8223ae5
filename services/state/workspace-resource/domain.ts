import type { StateVersionId, WorkspaceResourceId } from "../ids-domain.ts";

/** A resource that the workspace's current state manages, in the form that the workspace's list of resources shows. */
export interface WorkspaceResource {
  id: WorkspaceResourceId;
  address: string;
  name: string;
  module: string;
  provider: string;
  type: string;
  nameIndex: string | null;
  /** Creation time of the version in which the resource first appeared. */
  createdAt: Date;
  /** Creation time of the version that last changed the resource. */
  updatedAt: Date;
  modifiedBy: StateVersionId;
}

/** The sort keys of the list, as clients write them. */
const resourceFields = [
  "name",
  "nameIndex",
  "provider",
  "providerType",
  "module",
  "updatedAt",
] as const;
export type ResourceField = (typeof resourceFields)[number];

export interface ResourceSort {
  field: ResourceField;
  descending: boolean;
}

/** Parses `name:asc` or `updatedAt:desc`. Returns undefined for any other value; the list is then sorted by address. */
export function parseResourceSort(text: string): ResourceSort | undefined {
  const [name, order = "asc"] = text.split(":");
  const field = resourceFields.find((known) => known === name);
  if (!field || (order !== "asc" && order !== "desc")) return undefined;
  return { field, descending: order === "desc" };
}
