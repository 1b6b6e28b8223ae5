import type { ConfigurationVersionReport } from "@statehouse/proto/statehouse/runs/v1/run_report";
import type { ConfigurationVersion } from "@statehouse/proto/statehouse/workspaces/v1/configuration_version";
import { ConfigurationVersionService } from "@statehouse/proto/statehouse/workspaces/v1/configuration_version";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { embedded } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText } from "../jsonapi/shape.ts";
import { reported, statusTimes, statusTimestamps } from "../reported-text-resource.ts";
import { ingressAttributesResource } from "./ingress-attributes-resource.ts";

const reportOf = ({ id, report }: ConfigurationVersion): ConfigurationVersionReport => {
  if (!report) throw new Error(`the response contains no report for ${id}`);
  return report;
};

/** A configuration version, as the runner that executes its runs reported it. */
export const configurationVersionResource = resource<ConfigurationVersion, RequestContext>({
  type: "configuration-versions",
  id: ({ id }) => id,
  shape: {
    status: z.string(),
    source: z.string(),
    speculative: z.boolean(),
    provisional: z.boolean(),
    "auto-queue-runs": z.boolean(),
    error: optionalText,
    "error-message": optionalText,
    "changed-files": z.array(z.string()).max(0),
    "upload-url": z.null(),
    "status-timestamps": statusTimes,
  },
  attributes: (version) => {
    const report = reportOf(version);
    return {
      status: report.status,
      source: report.source || "tfe-api",
      speculative: report.speculative,
      provisional: report.provisional,
      "auto-queue-runs": report.autoQueueRuns,
      error: reported(report.error),
      "error-message": reported(report.errorMessage),
      "changed-files": [],
      "upload-url": null,
      "status-timestamps": statusTimestamps(report.statusTimestamps),
    };
  },
  relationships: {
    "ingress-attributes": embedded({
      resource: () => ingressAttributesResource,
      of: (version) => reportOf(version).ingressAttributes,
    }),
  },
  loadMany: async (ids, { client, caller }) =>
    (
      await client(ConfigurationVersionService).batchGetConfigurationVersions(
        { ids: [...ids] },
        caller,
      )
    ).configurationVersions,
});
