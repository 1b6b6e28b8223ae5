import type { Spellings } from "../jsonapi/spelling.ts";

/** Attributes whose name contains a brand that the specification replaced: both names are read and shown. */
export const brandNames = {
  "engine-version": "terraform-version",
  "vcs-app-installation-id": "github-app-installation-id",
  "policy-mocks": "sentinel-mocks",
  "workspace-kpis-run-count": "workspace-kpis-runs-count",
} as const satisfies Spellings;

/** The attributes, with every branded one under both its names. */
export function withBothSpellings(
  attributes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shown = { ...attributes };
  for (const [ours, other] of Object.entries(brandNames)) {
    if (ours in shown) shown[other] = shown[ours];
  }
  return shown;
}
