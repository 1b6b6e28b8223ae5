import { type ChildProcess, spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdir, rename, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { jetstream } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { connectNats, ensureStreams } from "@statehouse/events";
import { sampleEvent } from "@statehouse/events/catalog";
import { WorkspaceLockedSchema } from "@statehouse/proto/statehouse/workspaces/v1/events";
import { childEnvironment, needs, ownNats, temporaryFolder, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";

const bridge = path.join(
  import.meta.dirname,
  "../../examples/subscribers/webhook-bridge/bridge.mjs",
);

interface Received {
  id: string;
  isSigned: boolean;
  body: { id: string; type: string; data: { workspaceId: string } };
}

needs("nats-server")("the example of a webhook bridge", () => {
  test("signs and sends each event, repeats it while the webhook is unavailable, and replays what it refused", async () => {
    await using stack = new AsyncDisposableStack();
    const { path: folder } = stack.use(await temporaryFolder());
    const secret = randomBytes(24).toString("base64");
    const secretFile = path.join(folder, "secret");
    await writeFile(secretFile, `whsec_${secret}\n`);

    const received: Received[] = [];
    const attempts: string[] = [];
    /** The status of the response to an event. */
    let statusOf = (_id: string) => 200;
    const server = createServer(async (request, response) => {
      const chunks = await Array.fromAsync(request);
      const body = Buffer.concat(chunks).toString();
      const id = String(request.headers["webhook-id"]);
      const signed = `${id}.${request.headers["webhook-timestamp"]}.${body}`;
      const expected = createHmac("sha256", Buffer.from(secret, "base64")).update(signed);
      const isSigned = request.headers["webhook-signature"] === `v1,${expected.digest("base64")}`;
      attempts.push(id);
      const status = statusOf(id);
      if (status === 200) received.push({ id, isSigned, body: JSON.parse(body) });
      response.writeHead(status).end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stack.defer(() => void server.close());
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The server has no port.");

    const nats = stack.use(await ownNats());
    const connection = stack.use(connectNats({ url: nats.url, name: "test" }));
    await ensureStreams(connection, {});
    const publish = async (id: string) => {
      const sample = sampleEvent(WorkspaceLockedSchema);
      const named = headers();
      for (const [name, value] of Object.entries(sample.headers)) named.set(name, String(value));
      named.set("ce-id", id);
      const client = jetstream(await connection.connection());
      await client.publish(sample.subject, JSON.stringify(sample.payload), { headers: named });
    };

    const deadLetters = path.join(folder, "dead-letters");
    let output = "";
    const start = (...args: string[]): ChildProcess => {
      const child = spawn(process.execPath, [bridge, ...args], {
        env: childEnvironment({
          NATS_URL: nats.url,
          ...{ DURABLE: "bridge", FILTER: "statehouse.workspaces.>", MAX_FAILURES: "2" },
          WEBHOOK_URL: `http://127.0.0.1:${address.port}/events`,
          ...{ WEBHOOK_SECRET_FILE: secretFile, DEAD_LETTERS: deadLetters },
        }),
        stdio: ["ignore", "pipe", "inherit"],
      });
      child.stdout?.on("data", (chunk) => {
        output += chunk;
      });
      return child;
    };
    const running = start();
    stack.defer(() => void running.kill("SIGKILL"));

    await publish("first");
    await waitFor(() => received.length === 1);
    expect(received[0]).toMatchObject({
      ...{ id: "first", isSigned: true },
      body: {
        ...{ specversion: "1.0", id: "first", type: "statehouse.workspaces.workspace.locked.v1" },
        ...{ authtype: "user", organizationid: "org-x2mEp4Tz8QkD7vWn" },
        data: { workspaceId: "ws-h5JcR9sLq2BfY6Kt" },
      },
    });

    // The webhook fails more than MAX_FAILURES times. While it is unavailable, events do not become dead letters.
    statusOf = () => 503;
    await publish("second");
    await waitFor(() => attempts.filter((id) => id === "second").length > 3);
    statusOf = (id) => (id === "refused" ? 422 : 200);
    await waitFor(() => received.some(({ id }) => id === "second"));

    // A secret that is absent while its file is replaced does not lead to a dead letter either.
    await rename(secretFile, `${secretFile}.away`);
    await publish("unsigned");
    await waitFor(() => output.split("The secret of the webhook cannot be read").length > 4);
    await rename(`${secretFile}.away`, secretFile);
    await waitFor(() => received.some(({ id }) => id === "unsigned"));

    await publish("refused");
    await publish("last");
    await waitFor(async () => (await readdir(deadLetters).catch(() => [])).length === 1);
    await waitFor(() => received.some(({ id }) => id === "last"));
    expect(attempts.filter((id) => id === "refused")).toHaveLength(2);

    const exited = once(running, "exit");
    running.kill("SIGTERM");
    expect((await exited)[0]).toBe(0);

    expect((await once(start("replay"), "exit"))[0]).toBe(1);
    expect(await readdir(deadLetters)).toHaveLength(1);
    statusOf = () => 200;
    expect((await once(start("replay"), "exit"))[0]).toBe(0);
    expect(await readdir(deadLetters)).toEqual([]);
    expect(received.map(({ id }) => id)).toEqual([
      "first",
      "second",
      "unsigned",
      "last",
      "refused",
    ]);
    expect(received.every(({ isSigned }) => isSigned)).toBe(true);
  });
});
