import type { StateResource } from "./extraction.ts";
import type { StateVersion } from "./state-version.ts";

/** A state version as reads see it, with where its workspace belongs. */
export type StateVersionView = Pick<
  StateVersion,
  | "id"
  | "workspaceId"
  | "createdAt"
  | "createdByType"
  | "createdById"
  | "serial"
  | "lineage"
  | "md5"
  | "size"
  | "sha256"
  | "blobKey"
  | "jsonBlobKey"
  | "jsonSize"
  | "jsonSha256"
  | "status"
  | "intermediate"
  | "outputsGiven"
  | "resourcesProcessed"
  | "formatVersion"
  | "engineVersion"
  | "billableResourceCount"
  | "runId"
  | "rollbackVersionId"
  | "expiresAt"
> & {
  organizationId: string;
  projectId: string;
  /** The organization's plan bills by usage. */
  usageBasedBilling: boolean;
  resources: StateResource[];
  modulesJson: string;
  providersJson: string;
};

/** What its state would say of it left out, as for one that has been deleted for good. */
export const withoutFindings = (version: StateVersionView): StateVersionView => ({
  ...version,
  resources: [],
  modulesJson: "{}",
  providersJson: "{}",
});

/** Whether its outputs are known: they were given, or extracted. */
export const outputsAreKnown = (
  version: Pick<StateVersionView, "outputsGiven" | "resourcesProcessed">,
): boolean => version.outputsGiven || version.resourcesProcessed;
