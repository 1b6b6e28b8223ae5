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
  attributes: {
    status: [z.string(), (version) => reportOf(version).status],
    source: [z.string(), (version) => reportOf(version).source || "tfe-api"],
    speculative: [z.boolean(), (version) => reportOf(version).speculative],
    provisional: [z.boolean(), (version) => reportOf(version).provisional],
    "auto-queue-runs": [z.boolean(), (version) => reportOf(version).autoQueueRuns],
    error: [optionalText, (version) => reported(reportOf(version).error)],
    "error-message": [optionalText, (version) => reported(reportOf(version).errorMessage)],
    "changed-files": [z.array(z.string()).max(0), () => []],
    "upload-url": [z.null(), () => null],
    "status-timestamps": [
      statusTimes,
      (version) => statusTimestamps(reportOf(version).statusTimestamps),
    ],
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
