import { Buffer } from "node:buffer";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, describe, expect, it } from "vitest";
import { StateFileError } from "../domain/state-file.ts";
import { StateBytes, StateReader } from "./state-reader.ts";

const never = new AbortController().signal;

const memoryOf = (text: string): ArrayBuffer => {
  const bytes = new StateBytes(Buffer.byteLength(text));
  bytes.write(Buffer.from(text));
  return bytes.memory;
};

const stateOf = (resources: number): string =>
  JSON.stringify({
    version: 4,
    serial: 1,
    resources: Array.from({ length: resources }, (_, index) => ({
      mode: "managed",
      type: "null_resource",
      name: `r${index}`,
      provider: "p",
      instances: [{ attributes: { id: String(index), text: "x".repeat(500) } }],
    })),
  });

describe("the state reader", () => {
  const reader = new StateReader();
  afterAll(() => reader[Symbol.asyncDispose]());

  it("reads one state after the other", async () => {
    for (const resources of [0, 1, 30]) {
      const { serial, resources: found } = await reader.read(memoryOf(stateOf(resources)), never);
      expect([serial, JSON.parse(found).length]).toEqual([1n, resources]);
    }
  });

  it("says what is wrong with a content, and goes on", async () => {
    await expect(reader.read(memoryOf("no state"), never)).rejects.toThrow(StateFileError);
    const notText = new StateBytes(2);
    notText.write(Buffer.from([0xff, 0xfe]));
    await expect(reader.read(notText.memory, never)).rejects.toThrow(StateFileError);
    const deep = memoryOf(`{"version":3,"modules":${"[".repeat(500_000)}`);
    await expect(reader.read(deep, never)).rejects.toThrow(StateFileError);
    expect((await reader.read(memoryOf(stateOf(2)), never)).resourceCount).toBe(2);
  });

  it("leaves the event loop free while it reads a large state", async () => {
    const memory = memoryOf(stateOf(60_000));
    const delay = monitorEventLoopDelay({ resolution: 5 });
    const reading = reader.read(memory, never);
    delay.enable();
    const found = await reading;
    delay.disable();
    expect(found.resourceCount).toBe(60_000);
    expect(delay.percentile(95) / 1e6).toBeLessThan(100);
  });

  it("stops when it is told to, and reads again", async () => {
    const stop = new AbortController();
    const reading = reader.read(memoryOf(stateOf(20_000)), stop.signal);
    stop.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect((await reader.read(memoryOf(stateOf(1)), never)).resourceCount).toBe(1);
  });

  it("outlives a state that needs more memory than the thread has", {
    timeout: 60_000,
  }, async () => {
    await using small = new StateReader({ heapMiB: 16 });
    const greedy = memoryOf(`{"version":4,"resources":[${"1.5,".repeat(4_000_000)}1]}`);
    await expect(small.read(greedy, never)).rejects.toThrow(StateFileError);
    expect((await small.read(memoryOf(stateOf(1)), never)).resourceCount).toBe(1);
  });
});
