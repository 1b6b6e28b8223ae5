import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { idsIn, isId } from "@statehouse/postgres/ids";
import {
  ConfigurationVersionReportSchema,
  type ConfigurationVersionReport as ReportMessage,
} from "@statehouse/proto/statehouse/runs/v1/run_report";
import type { ConfigurationVersionService } from "@statehouse/proto/statehouse/workspaces/v1/configuration_version";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { reportInvalid } from "../errors-domain.ts";
import { workspaceId } from "../ids-rpc.ts";
import { idProblem, jsonOf, revisionOf } from "../run/rpc.ts";
import { batchGetConfigurationVersions } from "./app.ts";
import type { ConfigurationVersion } from "./domain.ts";

export const configurationVersionService = (
  app: App,
): ServiceImpl<typeof ConfigurationVersionService> => ({
  batchGetConfigurationVersions: async ({ ids }, { caller }) => {
    const versions = await batchGetConfigurationVersions(app, caller, idsIn("cv", ids));
    return {
      configurationVersions: versions.map(({ id, workspaceId, report }) => ({
        id,
        workspaceId,
        report: fromJson(ConfigurationVersionReportSchema, report as JsonValue, {
          ignoreUnknownFields: true,
        }),
      })),
    };
  },
});

/** Creates a configuration version from a runner's report. Throws `invalid` if the report is invalid. */
export function configurationVersionFromProto(
  message: ReportMessage,
  runner: string,
): ConfigurationVersion {
  const { configurationVersionId: id, createdAt, ingressAttributes } = message;
  if (!isId("cv", id)) {
    const problem = idProblem("Configuration version ID", "cv");
    throw reportInvalid("report.configurationVersionId", problem);
  }
  if (!createdAt) throw reportInvalid("report.createdAt", "Created at is missing");
  if (ingressAttributes && !ingressAttributes.id) {
    throw reportInvalid("report.ingressAttributes.id", "Ingress attributes ID is missing");
  }
  return {
    id,
    runner,
    workspaceId: workspaceId(message.workspaceId),
    revision: revisionOf(message),
    createdAt: timestampDate(createdAt),
    speculative: message.speculative,
    commitSha: ingressAttributes?.commitSha || null,
    commitUrl: ingressAttributes?.commitUrl || null,
    report: jsonOf(toJson(ConfigurationVersionReportSchema, message)),
  };
}
