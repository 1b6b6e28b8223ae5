import { type EventHandlers, on } from "@statehouse/events";
import {
  ConfigurationVersionReportedSchema,
  ReadmeReportedSchema,
  RunReportedSchema,
} from "@statehouse/proto/statehouse/runs/v1/events";
import type { App } from "../app/app.ts";
import { reportConfigurationVersion } from "../app/configuration-version.ts";
import { reportRun } from "../app/run-report.ts";
import { reportWorkspaceReadme } from "../app/workspace-readme.ts";
import { configurationVersionFromProto } from "../rpc/configuration-version.ts";
import { workspaceId } from "../rpc/ids.ts";
import { runFromProto } from "../rpc/run.ts";

/** The reports of runners. An invalid report becomes a dead letter. */
export const runHandlers = (app: App): EventHandlers => ({
  ...on(RunReportedSchema, (message) => reportRun(app, runFromProto(message))),
  ...on(ConfigurationVersionReportedSchema, (message) =>
    reportConfigurationVersion(app, configurationVersionFromProto(message)),
  ),
  ...on(ReadmeReportedSchema, ({ workspaceId: id, rawMarkdown, revision }) =>
    reportWorkspaceReadme(app, { workspaceId: workspaceId(id), rawMarkdown }, revision),
  ),
});
