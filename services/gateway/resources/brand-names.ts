import type { Spellings } from "../jsonapi/spelling.ts";

/** Attributes whose wire name carries a brand that the specification replaced: both are read and shown. */
export const brandNames = {
  "engine-version": "terraform-version",
  "vcs-app-installation-id": "github-app-installation-id",
  "policy-mocks": "sentinel-mocks",
  "workspace-kpis-run-count": "workspace-kpis-runs-count",
} as const satisfies Spellings;
