import { Buffer } from "node:buffer";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { proves } from "@statehouse/testing/proves";
import { afterAll, describe, expect, it } from "vitest";
import { StateFileError, StateReadingError } from "../extraction/domain.ts";
import { StateReader } from "./reader-worker.ts";

const digestKey = () => ({ id: "k1", key: Buffer.alloc(32, 1).toString("base64") });

const never = new AbortController().signal;

const CHUNK = 64 * 1024;

/** Writes these bytes as a store would, and ends the stream. */
const bytesOf = (content: string | Buffer) => (state: Writable) => {
  const bytes = Buffer.from(content);
  const chunks = function* () {
    for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
  };
  return pipeline(Readable.from(chunks()), state);
};

const stateOf = (resources: number, textLength = 500): string =>
  JSON.stringify({
    version: 4,
    serial: 1,
    resources: Array.from({ length: resources }, (_, index) => ({
      mode: "managed",
      type: "null_resource",
      name: `r${index}`,
      provider: "p",
      instances: [{ attributes: { id: String(index), text: "x".repeat(textLength) } }],
    })),
  });

describe("the state reader", () => {
  const reader = new StateReader(digestKey);
  afterAll(() => reader[Symbol.asyncDispose]());

  it("reads states one after the other", async () => {
    for (const resources of [0, 1, 30]) {
      const { serial, resources: found } = await reader.read(bytesOf(stateOf(resources)), never);
      expect([serial, JSON.parse(found).length]).toEqual([1n, resources]);
    }
  });

  it("reports invalid content and continues", async () => {
    await expect(reader.read(bytesOf("no state"), never)).rejects.toThrow(StateFileError);
    const notText = bytesOf(Buffer.from([0xff, 0xfe]));
    await expect(reader.read(notText, never)).rejects.toThrow(StateFileError);
    const deep = bytesOf(`{"version":3,"modules":${"[".repeat(500_000)}`);
    await expect(reader.read(deep, never)).rejects.toThrow(StateFileError);
    expect((await reader.read(bytesOf(stateOf(2)), never)).resourceCount).toBe(2);
  });

  it("does not block the event loop while it reads a large state", async () => {
    proves("Extraction/states of any size, beside an event loop that stays free");
    const bytes = bytesOf(stateOf(20_000));
    // Compares CPU times, because the delay of the event loop also depends on other processes.
    const [own, all] = [process.threadCpuUsage(), process.cpuUsage()];
    const found = await reader.read(bytes, never);
    const total = ({ user, system }: NodeJS.CpuUsage) => user + system;
    expect(found.resourceCount).toBe(20_000);
    expect(total(process.threadCpuUsage(own))).toBeLessThan(total(process.cpuUsage(all)) / 2);
  });

  it("stops when aborted, and reads again", async () => {
    const stop = new AbortController();
    const reading = reader.read(bytesOf(stateOf(20_000)), stop.signal);
    stop.abort(new Error("enough"));
    await expect(reading).rejects.toThrow("enough");
    expect((await reader.read(bytesOf(stateOf(1)), never)).resourceCount).toBe(1);
  });

  it("replaces a thread that does not respond in time", async () => {
    await using impatient = new StateReader(digestKey, { silenceMs: 1 });
    const reading = () => impatient.read(bytesOf(stateOf(1)), never);
    // A new thread takes longer than 1 ms to load its modules.
    await expect(reading()).rejects.toThrow(
      new StateReadingError("the reader thread does not respond"),
    );
    await expect(reading()).rejects.toThrow(StateReadingError);
  });

  it("needs memory for the extraction, not for the state", { timeout: 60_000 }, async () => {
    proves("Extraction/states of any size, beside an event loop that stays free");
    await using small = new StateReader(digestKey, { heapMiB: 48 });
    const large = stateOf(2000, 50_000);
    expect(large.length).toBeGreaterThan(2 * 48_000_000);
    expect((await small.read(bytesOf(large), never)).resourceCount).toBe(2000);
  });

  it("survives a state that needs more memory than the thread has", {
    timeout: 60_000,
  }, async () => {
    proves("Extraction/a poisonous file ends as processed, with a reason");
    await using small = new StateReader(digestKey, { heapMiB: 16 });
    const content = `[${"1.5,".repeat(4_000_000)}1]`;
    const greedy = bytesOf(`{"version":4,"resources":[{"instances":${content}}]}`);
    await expect(small.read(greedy, never)).rejects.toThrow(StateFileError);
    expect((await small.read(bytesOf(stateOf(1)), never)).resourceCount).toBe(1);
  });
});
