import type { Caller } from "@statehouse/authorization";
import type { App } from "../app.ts";
import { allowedRows } from "../caller-app.ts";
import { requireSameReporter } from "../run-report/app.ts";
import type { ConfigurationVersion, ConfigurationVersionView } from "./domain.ts";

/** Returns the configuration versions among `ids` that were reported and whose workspaces the caller may read. */
export const batchGetConfigurationVersions = async (
  app: App,
  caller: Caller,
  ids: readonly string[],
): Promise<ConfigurationVersionView[]> =>
  allowedRows(caller, "workspace:read", await app.reads.configurationVersions.batch(ids));

/**
 * Stores a runner's report of a configuration version, unless a newer report is stored. Throws `notFound` if the
 * workspace does not exist, and a conflict if the configuration version was reported for another workspace or by
 * another runner.
 */
export const reportConfigurationVersion = (
  app: App,
  version: ConfigurationVersion,
): Promise<void> =>
  app.transaction(async (tx) => {
    const { workspaceId } = version;
    const { organizationId } = await tx.workspaces.getForUpdate({ id: workspaceId });
    const known = await tx.configurationVersions.find(version.id);
    if (known) requireSameReporter(known, version);
    if (known && known.revision >= version.revision) return;
    await tx.configurationVersions.save(version);
    await tx.audit({
      organization: organizationId,
      action: "configuration-version.report",
      resource: { type: "configuration-version", id: version.id },
    });
    await tx.configurationVersions.showOn(workspaceId);
  });
