import { randomUUID } from "node:crypto";
import { freshBucket, minioClient, objectNames } from "@statehouse/testing";
import { startProcesses } from "../../stack/stack.ts";
import { type Aim, atLeast, atMost } from "../aim.ts";
import type { Ground } from "../bench.ts";
import { type Content, contentOf } from "../bytes/content.ts";
import { put } from "../bytes/transfer.ts";
import { peakResidentBytes } from "../processes.ts";
import { nothingToExtract, startWriters, type WriteTimes } from "../state-writer.ts";
import { median } from "../statistics.ts";
import { type Cell, printTable } from "../table.ts";
import { printEventCost } from "./event-cost.ts";
import { printWhereTimeGoes } from "./state-write-spans.ts";
import { printUploadCheck } from "./upload-check.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const CLIENTS = [1, 8, 32] as const;
/**
 * Largest number of bytes that the clients may write concurrently. With more bytes, the measurement would show the
 * speed of the disk instead of the speed of Statehouse.
 */
const MOST_BYTES = 4 * 1024 * MIB;

const sizes = [
  { name: "1 KiB", bytes: KIB, writes: [40, 10, 4], rounds: 5 },
  { name: "10 KiB", bytes: 10 * KIB, writes: [40, 10, 4], rounds: 5 },
  { name: "1 MiB", bytes: MIB, writes: [20, 5, 2], rounds: 5, aim: 0.6 },
  { name: "10 MiB", bytes: 10 * MIB, writes: [6, 2, 1], rounds: 4, aim: 0.6, upload: true },
  { name: "100 MiB", bytes: 100 * MIB, writes: [2, 1, 1], rounds: 2, aim: 0.8, upload: true },
  { name: "1 GiB", bytes: 1024 * MIB, writes: [1, 1, 1], rounds: 2, aim: 0.8 },
] as const;

/**
 * (i) Measures how fast concurrent clients create, upload and read state versions, compared with the same number of
 * direct PUTs to the same MinIO.
 */
export async function stateWrites(ground: Ground): Promise<Aim[]> {
  await using stack = await startProcesses({ blobs: "minio", settings: { LOG_LEVEL: "warn" } });
  const writers = await startWriters(stack, Math.max(...CLIENTS));
  await using raw = await freshBucket();
  const client = minioClient(raw);
  const kept = stack.environments.state.S3_BUCKET ?? "";
  const rows: Cell[][] = [];
  const aims: Aim[] = [];

  const empty = async () => {
    await nothingToExtract(stack);
    for (const bucket of [raw.bucket, kept]) {
      await client.removeObjects(bucket, await objectNames(client, bucket));
    }
  };
  const putRaw = async (content: Content, index: number) => {
    const name = `state-${index}-${randomUUID()}`;
    return await put(await client.presignedPutObject(raw.bucket, name), content);
  };
  const statePid = stack.processes.state.pid();

  for (const { name, bytes, writes, rounds, ...size } of sizes) {
    if (bytes > ground.options.largestMebibytes * MIB) continue;
    const content = contentOf(bytes, randomUUID());
    for (const [index, clients] of CLIENTS.entries()) {
      if (bytes * clients > MOST_BYTES) {
        rows.push([name, clients, "left out: more than 4 GiB at once"]);
        continue;
      }
      const each = writes[index] ?? 1;
      const measured = { raw: [] as number[], ours: [] as number[], times: [] as WriteTimes[] };
      const uploads: number[] = [];
      let growth = 0;
      // The first round opens connections and compiles code, so its results are not used. For 100 MiB and more, this
      // time is insignificant, so the first round is measured, too.
      for (let round = 0; round <= rounds; round++) {
        await empty();
        const times: WriteTimes[] = [];
        const puts: number[] = [];
        const rawMs = await together(clients, each, async (who) => {
          puts.push(await putRaw(content, who));
        });
        let ourMs = Number.NaN;
        const memory = await peakResidentBytes(statePid, async () => {
          ourMs = await together(clients, each, async (who) => {
            const writer = writers[who];
            if (writer) times.push(await writer.write(content));
          });
        });
        if (round === 0 && bytes < 100 * MIB) continue;
        measured.raw.push(rawMs / each);
        measured.ours.push(ourMs / each);
        measured.times.push(...times);
        uploads.push(median(puts) / median(times.map(({ upload }) => upload)));
        growth = Math.max(growth, memory ? memory.peak - memory.before : Number.NaN);
        if (round === rounds - 1 && bytes >= 100 * MIB) break;
      }
      const ratio = median(measured.raw.map((ms, round) => ms / (measured.ours[round] ?? NaN)));
      const part = (what: keyof WriteTimes) => median(measured.times.map((time) => time[what]));
      rows.push([
        ...[name, clients, "", median(measured.raw), median(measured.ours)],
        ...[part("create"), part("upload"), part("current"), ratio],
      ]);
      const aim = "aim" in size ? size.aim : undefined;
      if (aim) aims.push(atLeast(`(i) ${name}, clients: ${clients}, of raw`, aim, ratio));
      if ("upload" in size) {
        const what = `(i) upload of ${name}, clients: ${clients}`;
        aims.push(
          atLeast(`${what}, of a raw PUT`, clients === 1 ? 0.9 : 0.75, median(uploads)),
          atMost(`${what}, growth of state's memory`, 64, growth / MIB, " MiB"),
        );
      }
    }
  }
  await empty();
  printTable(
    "(i) create + upload + current beside raw PUTs to the same MinIO, ms of a round for one write of every client",
    ["size", "clients", "", "raw", "ours", "create", "upload", "current", "of raw"],
    rows.map((row) => [...row, ...Array.from({ length: 9 - row.length }, () => Number.NaN)]),
  );
  await printWhereTimeGoes(10 * KIB);
  await printEventCost(10 * KIB);
  await printUploadCheck([10 * KIB, MIB]);
  return aims;
}

/** Runs concurrent clients, each of which writes repeatedly; returns the total duration in ms. */
async function together(
  clients: number,
  each: number,
  write: (who: number) => Promise<void>,
): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async (_, who) => {
      for (let turn = 0; turn < each; turn++) await write(who);
    }),
  );
  return performance.now() - startedAt;
}
