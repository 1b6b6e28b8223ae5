import type { Spellings } from "../jsonapi/spelling.ts";

/**
 * The alternative names of attributes whose usual name contains a brand. Clients can send either name; documents show
 * both.
 */
export const brandNames = {
  "engine-version": "terraform-version",
  "vcs-app-installation-id": "github-app-installation-id",
  "policy-mocks": "sentinel-mocks",
  "workspace-kpis-run-count": "workspace-kpis-runs-count",
} as const satisfies Spellings;

/** Returns the attributes, with those that have a branded name under both names. */
export function withBothSpellings(
  attributes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shown = { ...attributes };
  for (const [ours, other] of Object.entries(brandNames)) {
    if (ours in shown) shown[other] = shown[ours];
  }
  return shown;
}
