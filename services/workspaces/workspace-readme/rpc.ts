import { idsIn } from "@statehouse/postgres/ids";
import type { ReadmeReport } from "@statehouse/proto/statehouse/runs/v1/run_report";
import type { WorkspaceReadmeService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_readme";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { reportInvalid } from "../errors-domain.ts";
import { workspaceId } from "../ids-rpc.ts";
import { MAX_REPORT_BYTES, revisionOf } from "../run/rpc.ts";
import { batchGetWorkspaceReadmes } from "./app.ts";
import type { WorkspaceReadme } from "./domain.ts";

export const workspaceReadmeService = (app: App): ServiceImpl<typeof WorkspaceReadmeService> => ({
  batchGetWorkspaceReadmes: async ({ workspaceIds }, { caller }) => ({
    readmes: await batchGetWorkspaceReadmes(app, caller, idsIn("ws", workspaceIds)),
  }),
});

/** Creates a readme and its revision from a runner's report. Throws `invalid` if the report is invalid. */
export function readmeFromProto(message: ReadmeReport): {
  readme: WorkspaceReadme;
  revision: bigint;
} {
  const { rawMarkdown } = message;
  if (rawMarkdown.includes("\0")) {
    throw reportInvalid(
      "report.rawMarkdown",
      "Raw markdown contains the character U+0000, which cannot be stored",
    );
  }
  if (Buffer.byteLength(rawMarkdown) > MAX_REPORT_BYTES) {
    const detail = `Raw markdown is too long (maximum is ${MAX_REPORT_BYTES} bytes)`;
    throw reportInvalid("report.rawMarkdown", detail);
  }
  const readme = { workspaceId: workspaceId(message.workspaceId), rawMarkdown };
  return { readme, revision: revisionOf(message) };
}
