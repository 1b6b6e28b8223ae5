import { create, toJsonString } from "@bufbuild/protobuf";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, headers } from "@nats-io/transport-node";
import { connectNats, on, subscribe } from "@statehouse/events";
import { WorkspaceCreatedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createLogger } from "@statehouse/runtime";
import { needs, ownNats, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";

const TYPE = "statehouse.workspaces.workspace.created.v1";
const SUBJECT = `${TYPE}.org-1`;

/** The subjects to which a NATS user may publish and subscribe according to docs/operations.md. */
const permissionsOf = (name: string, publish: readonly string[]) => ({
  publish: [
    ...publish,
    "$JS.API.INFO",
    ...["INFO", "CREATE", "UPDATE"].map((action) => `$JS.API.STREAM.${action}.STATEHOUSE`),
    `$JS.API.CONSUMER.*.STATEHOUSE.${name}`,
    `$JS.API.CONSUMER.MSG.NEXT.STATEHOUSE.${name}`,
    `$JS.API.CONSUMER.CREATE.STATEHOUSE.${name}.>`,
    `$JS.ACK.STATEHOUSE.${name}.>`,
  ],
  subscribe: [`_INBOX_${name}.>`],
});

const user = (name: string, ...publish: string[]) => ({
  ...{ user: name, password: name },
  permissions: permissionsOf(name, publish),
});

const users = [
  user("workspaces", "statehouse.workspaces.>"),
  user("state", "statehouse.state.>"),
  user("audit"),
  user("other"),
];

/**
 * Starts a server with four users, and a subscription of `audit` that records the workspace names in the events it
 * receives.
 */
async function startBus() {
  await using starting = new AsyncDisposableStack();
  const server = starting.use(
    await ownNats({ configuration: `authorization ${JSON.stringify({ users })}` }),
  );
  const loginOf = (name: string) => ({ user: name, password: name });
  const logger = createLogger({ service: "test", level: "silent" });
  const connections = starting.use(new AsyncDisposableStack());
  const received: string[] = [];
  const nats = starting.use(
    connectNats({
      ...{ url: server.url, name: "audit", inboxPrefix: "_INBOX_audit" },
      login: loginOf("audit"),
    }),
  );
  starting.use(
    subscribe({
      ...{ nats, durable: "audit", filter: "statehouse.>", logger },
      handlers: on(WorkspaceCreatedSchema, async ({ name }) => void received.push(name)),
      deadLetter: async () => {},
    }),
  );
  const as = async (name: string) => {
    const connection = await connect({
      ...{ servers: server.url, user: name, pass: name },
      ...{ inboxPrefix: `_INBOX_${name}`, ignoreAuthErrorAbort: true },
    });
    connections.defer(() => connection.close());
    return connection;
  };
  const publish = async (name: string, subject: string, workspace: string) => {
    const event = headers();
    event.set("ce-id", workspace);
    event.set("ce-type", TYPE);
    const message = create(WorkspaceCreatedSchema, { workspaceId: "ws-1", name: workspace });
    const text = toJsonString(WorkspaceCreatedSchema, message);
    await jetstream(await as(name)).publish(subject, text, { headers: event });
  };
  const { streams } = await jetstreamManager(await as("workspaces"));
  await streams.add({ name: "STATEHOUSE", subjects: ["statehouse.>"] });
  await publish("workspaces", SUBJECT, "first");
  await waitFor(() => received.length > 0);
  const started = starting.move();
  return { as, publish, received, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

needs("nats-server")("users of the bus", () => {
  test("a user of the bus cannot forge the type of another service's event", async () => {
    await using bus = await startBus();
    await bus.publish("state", "statehouse.state.state-version.created.v1.org-1", "forged");
    await bus.publish("workspaces", SUBJECT, "second");
    await waitFor(() => bus.received.includes("second"));
    expect(bus.received).toEqual(["first", "second"]);
  });

  test("a user of the bus cannot read what another one receives", async () => {
    await using bus = await startBus();
    const connection = await bus.as("other");
    const overheard: string[] = [];
    for (const subject of [">", "_INBOX.>", "_INBOX_audit.>", "statehouse.>"]) {
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (!error) overheard.push(message.subject);
        },
      });
    }
    await connection.flush();
    await bus.publish("workspaces", SUBJECT, "second");
    await waitFor(() => bus.received.includes("second"));
    await connection.flush();
    expect(overheard).toEqual([]);
  });
});
