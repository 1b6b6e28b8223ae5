import type { Spellings } from "./jsonapi/spelling.ts";

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

/** Returns the attributes. An attribute that has an alternative name appears under both names. */
export function withBothSpellings<Value>(
  attributes: Readonly<Record<string, Value>>,
): Record<string, Value> {
  const shown = { ...attributes };
  for (const [ours, other] of Object.entries(brandNames)) {
    const value = shown[ours];
    if (value !== undefined) shown[other] = value;
  }
  return shown;
}
