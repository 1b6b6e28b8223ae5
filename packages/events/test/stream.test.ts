import { jetstreamManager } from "@nats-io/jetstream";
import { freePort } from "@statehouse/local-services";
import { createLogger } from "@statehouse/runtime";
import { needs, ownNats, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { connectNats } from "../nats.ts";
import { ensureStreams, ensureSubscribers, MAIL_STREAM, STREAM } from "../stream.ts";

test("the stream in a cluster has the configured number of replicas, which never decreases", {
  timeout: 120_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const routes = [await freePort(), await freePort(), await freePort()];
  const servers = await Promise.all(
    routes.map(async (port) => stack.use(await ownNats({ cluster: { port, routes } }))),
  );
  const url = servers.map((server) => server.url).join(",");
  const copiesAfter = async (replicas: number) => {
    await using nats = connectNats({ url, name: "test" });
    // Waits until the servers of the cluster are connected.
    await waitFor(() => ensureStreams(nats, { replicas }).then(() => true), {
      timeout: 30_000,
      interval: 200,
    });
    const { streams } = await jetstreamManager(await nats.connection());
    // This is retried, because the stream does not respond while the cluster elects a leader.
    return await waitFor(async () => (await streams.info(STREAM)).config.num_replicas);
  };
  expect(await copiesAfter(1)).toBe(1);
  expect(await copiesAfter(3)).toBe(3);
  expect(await copiesAfter(1)).toBe(3);
});

needs("nats-server")("the settings of the streams", () => {
  test("change an existing stream, and settings that are absent stay as the operator has set them", async () => {
    await using server = await ownNats({ configuration: "server_tags: [ssd]" });
    await using nats = connectNats({ url: server.url, name: "test" });
    const { streams } = await jetstreamManager(await nats.connection());
    const config = async (name: string) => (await streams.info(name)).config;
    const day = 24 * 60 * 60 * 1e9;
    await ensureStreams(nats, {});
    expect(await config(STREAM)).toMatchObject({ max_age: 30 * day, max_bytes: -1 });
    expect(await config(MAIL_STREAM)).toMatchObject({ max_age: 7 * day, retention: "workqueue" });
    await streams.update(STREAM, { max_bytes: 10_000_000 });
    await ensureStreams(nats, {});
    expect(await config(STREAM)).toMatchObject({ max_age: 30 * day, max_bytes: 10_000_000 });
    await ensureStreams(nats, { maxAgeDays: 400, maxBytes: 2_000_000, tags: ["ssd"] });
    expect(await config(STREAM)).toMatchObject({
      ...{ max_age: 400 * day, max_bytes: 2_000_000, placement: { tags: ["ssd"] } },
    });
    expect(await config(MAIL_STREAM)).toMatchObject({ max_age: 7 * day });
  });

  test("are not written again if the stream has them", async () => {
    await using server = await ownNats({ configuration: "server_tags: [ssd]" });
    await using nats = connectNats({ url: server.url, name: "test" });
    const connection = await nats.connection();
    let updates = 0;
    connection.subscribe("$JS.EVENT.ADVISORY.STREAM.UPDATED.>", { callback: () => void updates++ });
    const settings = { maxAgeDays: 5, maxBytes: 2_000_000, tags: ["ssd"] };
    await ensureStreams(nats, {});
    await ensureStreams(nats, settings);
    await waitFor(() => updates === 2);
    await ensureStreams(nats, settings);
    await connection.flush();
    expect(updates).toBe(2);
  });
});

needs("nats-server")("the consumers of subscribers", () => {
  test("a consumer that NATS refuses stops neither other consumers nor the service", async () => {
    await using server = await ownNats({});
    await using nats = connectNats({ url: server.url, name: "test" });
    await ensureStreams(nats, {});
    const errors: unknown[] = [];
    const logger = createLogger({ service: "test", level: "silent" });
    logger.error = (fields: object) => void errors.push(fields);
    const subscribers = [
      { durable: "mail", filter: "statehouse-mail.>" },
      { durable: "mail-again", filter: "statehouse-mail.>" },
      { durable: "search", filter: "statehouse.>" },
    ];
    await ensureSubscribers(nats, subscribers, logger);
    expect(errors).toMatchObject([{ durable: "mail-again" }]);
    const { consumers } = await jetstreamManager(await nats.connection());
    await expect(consumers.info(STREAM, "search")).resolves.toMatchObject({ name: "search" });
    await expect(consumers.info(MAIL_STREAM, "mail")).resolves.toMatchObject({ name: "mail" });
  });
});
