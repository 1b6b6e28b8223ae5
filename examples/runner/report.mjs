// A runner in one file: it reports one run to Statehouse, from its creation to its end. Nothing is executed.
//   WORKSPACE_ID=ws-… WORKSPACES_ADDRESS=127.0.0.1:9102 ASSERTION_PRIVATE_KEY='{"kty":"OKP",…}' \
//     GRPC_CA_FILE=ca.pem GRPC_CERT_FILE=runner.pem GRPC_KEY_FILE=runner.key \
//     npm exec node -- examples/runner/report.mjs
import { randomBytes } from "node:crypto";
import { fromJson } from "@bufbuild/protobuf";
import {
  ConfigurationVersionReportSchema,
  ReadmeReportSchema,
  RunReportSchema,
  RunReportService,
} from "@statehouse/proto/statehouse/runs/v1/run_report";
import { createClient, createIdentity, grpcChannel } from "@statehouse/rpc";
import { createLogger, grpcTlsSettings, readConfig, watchSettings } from "@statehouse/runtime";
import { grpcTlsOf } from "@statehouse/service";
import { z } from "zod";

const workspaceId = process.env.WORKSPACE_ID;
if (!workspaceId) throw new Error("WORKSPACE_ID must name a workspace: ws-…");
const key = process.env.ASSERTION_PRIVATE_KEY;
if (!key) throw new Error("ASSERTION_PRIVATE_KEY must be the private key of the runner, a JWK");
const identity = await createIdentity(process.env.RUNNER ?? "runner", JSON.parse(key));
const logger = createLogger({ service: "runner", level: "error" });
await using stack = new AsyncDisposableStack();
const settings = readConfig(z.object(grpcTlsSettings));
const tls = grpcTlsOf(settings);
stack.use(watchSettings(settings, { logger, files: [tls] }));
const address = process.env.WORKSPACES_ADDRESS ?? "127.0.0.1:9102";
const channel = stack.use(grpcChannel({ address, audience: "workspaces", tls }));
const reports = createClient(RunReportService, channel, identity);

const newId = (prefix) => `${prefix}-${randomBytes(8).toString("hex")}`;
const now = () => new Date().toISOString();

const configurationVersion = {
  configurationVersionId: newId("cv"),
  workspaceId,
  revision: 1,
  status: "uploaded",
  source: "github",
  createdAt: now(),
  ingressAttributes: {
    id: newId("ia"),
    branch: "main",
    commitSha: randomBytes(20).toString("hex"),
    commitUrl: "https://git.example.com/acme/network/commit/1",
    commitMessage: "Widen the network",
    identifier: "acme/network",
    onDefaultBranch: true,
  },
};
await reports.reportConfigurationVersion({
  report: fromJson(ConfigurationVersionReportSchema, configurationVersion),
});
await reports.reportReadme({
  report: fromJson(ReadmeReportSchema, {
    workspaceId,
    revision: Date.now(),
    rawMarkdown: "# Network\n\nWhere the subnets are.\n",
  }),
});

// Each report describes the complete run, with a higher revision than the report before.
let run = {
  runId: newId("run"),
  workspaceId,
  revision: 0,
  createdAt: now(),
  message: "Widen the network",
  source: "tfe-configuration-version",
  configurationVersionId: configurationVersion.configurationVersionId,
  createdByUserId: process.env.USER_ID ?? "",
  statusTimestamps: {},
  plan: { id: newId("plan"), status: "pending" },
};
async function become(status, more = {}) {
  const statusTimestamps = { ...run.statusTimestamps, [`${status}-at`]: now() };
  run = { ...run, ...more, status, statusTimestamps, revision: run.revision + 1 };
  await reports.reportRun({ report: fromJson(RunReportSchema, run) });
}

await become("pending");
await become("planning", { plan: { ...run.plan, status: "running", startedAt: now() } });
await become("planned", {
  hasChanges: true,
  plan: {
    ...run.plan,
    status: "finished",
    finishedAt: now(),
    durationMs: 4200,
    resourceAdditions: 2,
  },
});
await become("applying", { apply: { id: newId("apply"), status: "running", startedAt: now() } });
await become("applied", {
  apply: { ...run.apply, status: "finished", finishedAt: now(), durationMs: 15300 },
});
console.log(run.runId);
