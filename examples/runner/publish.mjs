// A runner in one file: it reports one run to Statehouse, from its creation to its end. Nothing is executed.
//   WORKSPACE_ID=ws-… NATS_URL=nats://127.0.0.1:4222 node examples/runner/publish.mjs
import { randomBytes, randomUUID } from "node:crypto";
import { jetstream } from "@nats-io/jetstream";
import { connect, headers } from "@nats-io/transport-node";

const workspaceId = process.env.WORKSPACE_ID;
if (!workspaceId) throw new Error("WORKSPACE_ID must name a workspace: ws-…");
const connection = await connect({ servers: process.env.NATS_URL ?? "nats://127.0.0.1:4222" });
const stream = jetstream(connection);

/** Publishes one report and waits until the stream has stored it. */
async function report(noun, subject, message) {
  const type = `statehouse.runs.${noun}.reported.v1`;
  const id = randomUUID();
  const head = headers();
  head.set("Nats-Msg-Id", id); // The stream drops a repeat with the same id.
  head.set("ce-specversion", "1.0");
  head.set("ce-id", id);
  head.set("ce-source", "examples/runner");
  head.set("ce-type", type);
  head.set("ce-subject", subject);
  head.set("ce-time", new Date().toISOString());
  await stream.publish(type, JSON.stringify(message), { headers: head });
}

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
await report(
  "configuration-version",
  configurationVersion.configurationVersionId,
  configurationVersion,
);
await report("readme", workspaceId, {
  workspaceId,
  revision: Date.now(),
  rawMarkdown: "# Network\n\nWhere the subnets are.\n",
});

// Every report describes the complete run, with a higher revision.
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
  await report("run", run.runId, run);
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
await connection.drain();
