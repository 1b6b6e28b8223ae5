import { randomUUID } from "node:crypto";
import { jetstream } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { service as accessService } from "@statehouse/access/service";
import { connectNats, STREAM, typesOf } from "@statehouse/events";
import { newId } from "@statehouse/postgres/ids";
import { service as stateService } from "@statehouse/state/service";
import { waitFor } from "@statehouse/testing";
import { service as workspacesService } from "@statehouse/workspaces/service";
import { beforeAll, expect, test } from "vitest";
import { openBus } from "../faults/bus.ts";
import { organizationId } from "../stack/organization.ts";
import type { DatabaseName } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import { useFixture } from "../system/fixture.ts";
import { type FullOrganization, newFullOrganization } from "../system/full-organization.ts";

// Attack: a client that may publish to the bus publishes events with false content.

const fixture = useFixture({ settings: { COMPARISON_INTERVAL: "86400" } });

/** Every event type that a service consumes. */
const consumed = [accessService, stateService, workspacesService].flatMap(({ consumers }) =>
  consumers({} as never).flatMap(({ projections }) => typesOf(projections)),
);

/** The objects that an event names: those of the victim, or objects that do not exist. */
interface Target {
  organizationId: string;
  projectId: string;
  workspaceId: string;
  runId: string;
  userId: string;
}

interface Attacker {
  organizationId: string;
  projectId: string;
  userId: string;
}

const huge = "8999999999999999";

const organizationDeleted = ({ organizationId }: Target) => ({ organizationId, revision: huge });
const workspaceDeleted = ({ organizationId, workspaceId }: Target) => ({
  ...{ organizationId, workspaceId },
  revision: huge,
});

/** The false content for each event type. The test fails for a consumed type that has no entry here. */
const forgeries: Record<string, (of: Target, by: Attacker) => object> = {
  "statehouse.workspaces.workspace.updated.v1": ({ workspaceId }, by) => ({
    ...{ workspaceId, organizationId: by.organizationId, projectId: by.projectId },
    ...{ name: "moved", placementVersion: huge, revision: huge },
  }),
  "statehouse.workspaces.workspace.deleted.v1": workspaceDeleted,
  "statehouse.workspaces.organization.created.v1": ({ organizationId }, by) => ({
    ...{ organizationId, name: "mine", creatorUserId: by.userId, revision: huge },
  }),
  "statehouse.workspaces.organization.updated.v1": ({ organizationId }) => ({
    ...{ organizationId, name: "mine", usageBasedBilling: false, revision: huge },
  }),
  "statehouse.workspaces.organization.deleted.v1": organizationDeleted,
  "statehouse.workspaces.project.deleted.v1": ({ organizationId, projectId }) => ({
    ...{ organizationId, projectId, revision: huge },
  }),
  "statehouse.workspaces.run.ended.v1": ({ organizationId, workspaceId, runId }) => ({
    ...{ organizationId, workspaceId, runId, status: "applied", revision: huge },
  }),
  "statehouse.access.user.deleted.v1": ({ userId }) => ({ userId, revision: huge }),
  "statehouse.state.workspace-state.changed.v1": ({ organizationId, workspaceId }) => ({
    ...{ organizationId, workspaceId, currentStateVersionId: newId("sv"), resourceCount: 0 },
    ...{ latestChangeAt: "2099-01-01T00:00:00Z", revision: huge },
  }),
  // Runners report with calls; no service consumes these events.
  "statehouse.runs.run.reported.v1": ({ workspaceId, runId }) => ({
    ...{ workspaceId, runId, status: "errored", revision: huge, createdAt: "2099-01-01T00:00:00Z" },
  }),
  "statehouse.runs.configuration-version.reported.v1": ({ workspaceId }) => ({
    ...{ workspaceId, configurationVersionId: newId("cv"), revision: huge },
    createdAt: "2099-01-01T00:00:00Z",
  }),
  "statehouse.runs.readme.reported.v1": ({ workspaceId }) => ({
    ...{ workspaceId, rawMarkdown: "# Mine", revision: huge },
  }),
};

const unreadable = ["", "{", "[]", "null", '{"workspaceId":7}', '{"workspaceId":"ws-\\u0000"}'];

let victim: FullOrganization;
let attacker: Attacker;
let runId: string;
let secret: string;

beforeAll(async () => {
  const { stack, outsider } = fixture();
  victim = await newFullOrganization({ stack });
  const { api, organization, workspaceId } = { ...victim, api: victim.owner.api };
  // Changes the victim's objects, so that real events about them are published before the forged ones.
  const settings = {
    data: { type: "organizations", attributes: { "cost-estimation-enabled": true } },
  };
  await expectStatus(200, api.patch(`/organizations/${organization}`, settings));
  const { reports, tokens } = await stack.runnerCalls("runner");
  runId = await reports.run({ workspaceId, status: "applying" });
  secret = (await tokens.createRunToken({ runId, workspaceId })).secret;
  const own = await newWorkspaceIn(outsider.api, outsider.organization);
  attacker = {
    organizationId: await organizationId(stack, outsider.organization),
    projectId: own.relationships.project.data.id,
    userId: outsider.id,
  };
  // Creating a pending version raises the revision of the workspace's state without an event. The event published here
  // makes the workspaces service fetch that revision, so that the forged events change no revision.
  await publish("statehouse.state.workspace-state.changed.v1", [JSON.stringify({ workspaceId })]);
});

const databases = ["access", "workspaces", "state"] as const satisfies DatabaseName[];

/** Tables that contain times or the progress of workers, and therefore change without a request. */
const clocks = new Set(["outbox", "state_comparison", "scans", "database_heartbeats"]);

/**
 * Returns every row of every table, except `clocks` and the audit trail. Of the audit trail, returns only the ids and
 * client addresses of the records that are older than `since`.
 */
async function everyRow(since: Date): Promise<Record<string, unknown>> {
  const { stack } = fixture();
  const all: Record<string, unknown> = {};
  for (const database of databases) {
    const tables = await stack.rows<{ name: string }>(
      database,
      `select table_name as name from information_schema.tables
       where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
    );
    for (const { name } of tables) {
      if (clocks.has(name) || name.startsWith("audit_")) continue;
      const rows = await stack.rows<{ row: string }>(
        database,
        `select (to_jsonb(t) - 'last_used_at')::text as row from "${name}" t order by 1`,
      );
      all[`${database}.${name}`] = rows.map(({ row }) => row);
    }
    all[`${database}.addresses`] = await stack.rows(
      database,
      "select id, address from audit_records where recorded_at < $1 order by id",
      [since],
    );
  }
  return all;
}

/** Returns the victim's documents, as the owner, the run and the attacker read them. */
async function everyDocument() {
  const { outsider, stack } = fixture();
  const { owner, organization, workspaceId, projectId } = victim;
  const paths = [
    `/organizations/${organization}`,
    `/workspaces/${workspaceId}?include=current_run,readme,current_configuration_version`,
    `/workspaces/${workspaceId}/current-state-version?include=outputs`,
    `/team-workspaces?filter[workspace][id]=${workspaceId}`,
    `/team-projects?filter[project][id]=${projectId}`,
  ];
  const read: unknown[] = [];
  for (const path of paths) {
    for (const api of [owner.api, outsider.api]) {
      const { status, body } = await api.get(path);
      read.push([path, status, body]);
    }
  }
  const current = await owner.api.get(`/workspaces/${workspaceId}/current-state-version`);
  const url: string = current.body.data.attributes["hosted-state-download-url"];
  const authorization = `Bearer ${owner.token}`;
  const bytes = await fetch(url, { headers: { authorization } });
  read.push([bytes.status, await bytes.text()]);
  const asRun = await fetch(`${stack.url}/api/v2/workspaces/${workspaceId}`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  read.push(asRun.status);
  return read;
}

/** Waits until every consumer has acknowledged all events and the outboxes are empty. */
async function quiet(): Promise<void> {
  const { stack } = fixture();
  await using bus = await openBus(stack.nats);
  await waitFor(
    async () => {
      for (const database of databases) {
        if ((await stack.rows(database, "select from outbox")).length > 0) return false;
      }
      const consumers = await bus.manager.consumers.list(STREAM).next();
      return consumers.every(
        ({ num_pending, num_ack_pending }) => num_pending === 0 && num_ack_pending === 0,
      );
    },
    { timeout: 90_000, what: "every consumer to have acknowledged everything" },
  );
}

async function publish(type: string, texts: readonly string[]): Promise<void> {
  const { url, login } = fixture().stack.nats;
  await using nats = connectNats({ url, login, name: "attacker" });
  const stream = jetstream(await nats.connection());
  for (const text of texts) {
    const head = headers();
    head.set("ce-id", randomUUID());
    head.set("ce-type", type);
    head.set("ce-source", `urn:statehouse:default/${type.split(".")[1]}`);
    head.set("ce-sequence", huge);
    for (const subject of [type, `${type}.${victim.organizationId}`]) {
      await stream.publish(subject, text, { headers: head });
      await stream.publish(subject, text);
    }
  }
}

test("every consumed event type has a forgery", () => {
  expect(consumed.filter((type) => !(type in forgeries))).toEqual([]);
});

test.each(Object.keys(forgeries))("a forged %s changes nothing", async (type) => {
  const { organizationId, projectId, workspaceId } = victim;
  const existing = { organizationId, projectId, workspaceId, runId, userId: victim.owner.id };
  const unknown = {
    organizationId: newId("org"),
    projectId: newId("prj"),
    workspaceId: newId("ws"),
    runId: newId("run"),
    userId: newId("user"),
  };
  await quiet();
  const since = new Date();
  const before = { rows: await everyRow(since), documents: await everyDocument() };
  const forge = forgeries[type];
  if (!forge) throw new Error("unreachable");
  const forged = [existing, unknown].map((target) => JSON.stringify(forge(target, attacker)));
  await publish(type, [...unreadable, ...forged]);
  await quiet();
  expect(await everyRow(since)).toEqual(before.rows);
  expect(await everyDocument()).toEqual(before.documents);
});
