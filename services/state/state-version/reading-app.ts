import type { Target } from "@statehouse/authorization";
import { AppError, refusalOf } from "@statehouse/errors";
import type { App } from "../app.ts";
import type { StateVersionOutput } from "../state-version-output/domain.ts";

type OrganizationTarget = Pick<Target, "organizationId">;

/** Records that the current actor downloads a state. Callers must await the record before they send the first byte. */
export const recordDownload = (
  app: Pick<App, "audit">,
  { organizationId }: OrganizationTarget,
  versionId: string,
): Promise<void> =>
  app.audit.write({
    organization: organizationId,
    action: "state-version.download",
    resource: { type: "state-version", id: versionId },
  });

/** Records that the current actor was refused a download, if `error` is a refusal. */
export function recordRefusedDownload(
  app: Pick<App, "audit">,
  error: unknown,
  versionId: string,
): void {
  const refusal = error instanceof AppError && refusalOf(error);
  if (!refusal) return;
  app.audit.refused({
    organization: refusal.organizationId,
    action: "state-version.download",
    resource: { type: "state-version", id: versionId },
    code: error.reason,
  });
}

/**
 * Records that the current actor reads the values of outputs, once for each version. Outputs whose values are withheld
 * are not recorded. Callers must await the records before they send the response.
 */
export async function recordOutputs(
  app: Pick<App, "audit">,
  outputs: readonly (Pick<StateVersionOutput, "stateVersionId" | "valueJson"> &
    OrganizationTarget)[],
): Promise<void> {
  const shown = outputs.filter(({ valueJson }) => valueJson !== null);
  const organizations = new Map(
    shown.map(({ stateVersionId, organizationId }) => [stateVersionId, organizationId]),
  );
  await Promise.all(
    [...organizations].map(([id, organization]) =>
      app.audit.write({
        organization,
        action: "state-version-output.read",
        resource: { type: "state-version", id },
      }),
    ),
  );
}
