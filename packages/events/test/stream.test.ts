import { jetstreamManager } from "@nats-io/jetstream";
import { freePort } from "@statehouse/local-services";
import { ownNats, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { connectNats } from "../nats.ts";
import { ensureStreams, STREAM } from "../stream.ts";

test("the stream in a cluster has the configured number of replicas, which never decreases", {
  timeout: 120_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const routes = [await freePort(), await freePort(), await freePort()];
  const servers = await Promise.all(
    routes.map(async (port) => stack.use(await ownNats({ cluster: { port, routes } }))),
  );
  const url = servers.map((server) => server.url).join(",");
  const copiesAfter = async (streamReplicas: number) => {
    await using nats = connectNats({ url, name: "test", streamReplicas });
    // Waits until the servers of the cluster are connected.
    await waitFor(() => ensureStreams(nats).then(() => true), { timeout: 30_000, interval: 200 });
    const { streams } = await jetstreamManager(await nats.connection());
    // Retried, because the stream does not respond while the cluster elects a leader.
    return await waitFor(async () => (await streams.info(STREAM)).config.num_replicas);
  };
  expect(await copiesAfter(1)).toBe(1);
  expect(await copiesAfter(3)).toBe(3);
  expect(await copiesAfter(1)).toBe(3);
});
