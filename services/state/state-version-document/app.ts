import { type Action, allowed, allowedActions, type Caller } from "@statehouse/authorization";
import type { App } from "../app.ts";
import { isDeleted, type StateVersionView, withoutExtraction } from "../state-version/domain.ts";
import { acceptsContent, contentOf } from "../state-version/upload-domain.ts";
import type { ContentKind } from "../state-version/upload-token-domain.ts";

/** A state version in the form that one caller may see. URLs are absolute; a hidden URL is null. */
export interface StateVersionDocument {
  version: StateVersionView;
  uploadUrl: string | null;
  jsonUploadUrl: string | null;
  downloadUrl: string | null;
  jsonDownloadUrl: string | null;
  allowedActions: Action[];
  /** Whether the caller may see the number of billed resources; specification, "State version". */
  showsBillableResources: boolean;
}

/**
 * The first engine version whose JSON form is stable. By the specification, states of earlier versions have no download
 * URL for their JSON form.
 */
const FIRST_STABLE_JSON = [1, 3] as const;

/** Returns whether the engine that wrote the state has a stable JSON form. True if the engine's version is unknown. */
export function hasStableJson({ engineVersion }: Pick<StateVersionView, "engineVersion">): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(engineVersion ?? "") ?? [];
  if (major === undefined) return true;
  const [firstMajor, firstMinor] = FIRST_STABLE_JSON;
  return (
    Number(major) > firstMajor || (Number(major) === firstMajor && Number(minor) >= firstMinor)
  );
}

const documentActions = [
  "state:read",
  "state:read-outputs",
  "state:write",
  "state:manage-backing-data",
] as const;

/** Returns the path of the URL to which a version's raw state or JSON form is uploaded. */
export const uploadPath = (
  app: App,
  version: Pick<StateVersionView, "id" | "workspaceId">,
  kind: ContentKind,
  expiresAt: Date,
): string => {
  const { id: versionId, workspaceId } = version;
  return `/v1/object/${app.uploadTokens.sign({ workspaceId, versionId, kind, expiresAt })}`;
};

/**
 * Returns the document of a version for `caller`. It contains upload URLs only if the caller may write and the URLs
 * still work.
 */
export function documentOf(
  app: App,
  caller: Caller,
  version: StateVersionView,
): StateVersionDocument {
  const { publicUrl } = app.settings;
  const grants = caller.kind === "principal" ? caller.grants : undefined;
  const mayWrite = grants !== undefined && allowed(grants, "state:write", version);
  const upload = (kind: ContentKind) =>
    mayWrite && !contentOf(version, kind) && acceptsContent(version, kind, app.now())
      ? publicUrl + uploadPath(app, version, kind, version.expiresAt)
      : null;
  const download = (kind: ContentKind, path: string) =>
    version.status === "finalized" && contentOf(version, kind)
      ? `${publicUrl}/v1/object/${version.id}${path}`
      : null;
  return {
    version: isDeleted(version) ? withoutExtraction(version) : version,
    uploadUrl: upload("raw"),
    jsonUploadUrl: upload("json"),
    downloadUrl: download("raw", ""),
    jsonDownloadUrl: hasStableJson(version) ? download("json", "/json") : null,
    showsBillableResources:
      grants !== undefined &&
      version.usageBasedBilling &&
      allowed(grants, "organization:read-usage", version),
    allowedActions: grants ? allowedActions(grants, documentActions, version) : [],
  };
}
