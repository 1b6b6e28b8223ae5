import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { isId } from "@statehouse/postgres/ids";
import {
  ConfigurationVersionReportedSchema,
  type ConfigurationVersionReported as ReportMessage,
} from "@statehouse/proto/statehouse/runs/v1/events";
import type { ConfigurationVersionService } from "@statehouse/proto/statehouse/workspaces/v1/configuration_version";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { batchGetConfigurationVersions } from "../app/configuration-version.ts";
import type { ConfigurationVersion } from "../domain/configuration-version.ts";
import { reportInvalid } from "../domain/errors.ts";
import { idsIn, workspaceId } from "./ids.ts";
import { jsonOf } from "./run.ts";

export const configurationVersionService = (
  app: App,
): ServiceImpl<typeof ConfigurationVersionService> => ({
  batchGetConfigurationVersions: async ({ ids }, { caller }) => {
    const versions = await batchGetConfigurationVersions(app, caller, idsIn("cv", ids));
    return {
      configurationVersions: versions.map(({ id, workspaceId, report }) => ({
        id,
        workspaceId,
        report: fromJson(ConfigurationVersionReportedSchema, report as JsonValue, {
          ignoreUnknownFields: true,
        }),
      })),
    };
  },
});

/** Converts a configuration version from its report. Throws `invalid` if the report is invalid. */
export function configurationVersionFromProto(message: ReportMessage): ConfigurationVersion {
  const { configurationVersionId: id, createdAt, ingressAttributes } = message;
  if (!isId("cv", id)) throw reportInvalid("configuration-version-id");
  if (!createdAt) throw reportInvalid("created-at");
  if (ingressAttributes && !ingressAttributes.id) throw reportInvalid("ingress-attributes");
  return {
    id,
    workspaceId: workspaceId(message.workspaceId),
    revision: message.revision,
    createdAt: timestampDate(createdAt),
    speculative: message.speculative,
    commitSha: ingressAttributes?.commitSha || null,
    commitUrl: ingressAttributes?.commitUrl || null,
    report: jsonOf(toJson(ConfigurationVersionReportedSchema, message)),
  };
}
