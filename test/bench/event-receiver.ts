// A subscriber in a separate thread. Writes the time at which it receives each event, by revision.
import { parentPort, workerData } from "node:worker_threads";
import { jetstream } from "@nats-io/jetstream";
import { connectNats, STREAM } from "@statehouse/events";

const {
  url,
  received,
  deliveries,
}: { url: string; received: Float64Array; deliveries: Int32Array } = workerData;

const nats = connectNats({ url, name: "receiver" });
const consumer = await jetstream(await nats.connection()).consumers.get(STREAM);
const messages = await consumer.consume({ max_messages: 1000 });
parentPort?.postMessage("ready");
for await (const message of messages) {
  const index = Number(message.headers?.get("ce-sequence")) - 1;
  received[index] = performance.timeOrigin + performance.now();
  Atomics.add(deliveries, index, 1);
  // The last element counts all deliveries.
  Atomics.add(deliveries, received.length, 1);
}
