import { randomUUID } from "node:crypto";
import { freshBucket, minioClient, objectNames, waitFor } from "@statehouse/testing";
import { document } from "../../stack/http.ts";
import { expectStatus } from "../../stack/state.ts";
import { type Aim, atLeast, atMost } from "../aim.ts";
import type { Bench } from "../bench.ts";
import { type Content, contentOf } from "../bytes/content.ts";
import { get, put } from "../bytes/transfer.ts";
import type { BenchFixture } from "../fixture.ts";
import { peakResidentBytes } from "../processes.ts";
import { median } from "../statistics.ts";
import { print, printTable } from "../table.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

const sizes = [
  { name: "1 KiB", bytes: KIB, rounds: 100 },
  { name: "1 MiB", bytes: MIB, rounds: 30 },
  { name: "100 MiB", bytes: 100 * MIB, rounds: 6 },
  { name: "1 GiB", bytes: 1024 * MIB, rounds: 2 },
];

type Direction = "upload" | "download";

interface Transfers {
  /** Duration of each round against MinIO directly, in ms. */
  raw: Record<Direction, number[]>;
  /** Duration of each round through the state service, in ms. */
  ours: Record<Direction, number[]>;
  /** Largest growth of the state process's memory in any round, in bytes; NaN if it cannot be measured. */
  growth: Record<Direction, number>;
}

/** (d) Measures uploads and downloads through the state service, compared with direct requests to the same MinIO. */
export async function stateBytes(bench: Bench): Promise<Aim[]> {
  const { four, statePid, stateBucket, options } = bench;
  await using bucket = await freshBucket();
  const client = minioClient(bucket);
  const [workspaceId = ""] = four.workspaceIds;
  await expectStatus(200, four.api.post(`/workspaces/${workspaceId}/actions/lock`));
  const writer = await stateWriter(four, workspaceId);

  const measure = async (content: Content, rounds: number): Promise<Transfers> => {
    const transfers: Transfers = {
      raw: { upload: [], download: [] },
      ours: { upload: [], download: [] },
      growth: { upload: Number.NaN, download: Number.NaN },
    };
    const watched = async (direction: Direction, transfer: () => Promise<number>) => {
      const memory = await peakResidentBytes(statePid, async () => {
        transfers.ours[direction].push(await transfer());
      });
      const growth = memory ? memory.peak - memory.before : Number.NaN;
      transfers.growth[direction] = Math.max(transfers.growth[direction] || 0, growth);
    };
    for (let round = 0; round < rounds; round++) {
      const upload = await client.presignedPutObject(bucket.bucket, "state");
      transfers.raw.upload.push(await put(upload, content));
      const download = await client.presignedGetObject(bucket.bucket, "state");
      transfers.raw.download.push(await get(download, content.size));
      await client.removeObject(bucket.bucket, "state");

      const version = await writer.announce(content);
      await watched("upload", () => put(version.uploadUrl, content));
      const downloadUrl = await version.processed();
      await watched("download", () => get(downloadUrl, content.size, four.headers));
      // Deletes the objects directly in the store, so that each round starts with the same free space.
      await client.removeObjects(stateBucket, await objectNames(client, stateBucket));
    }
    return transfers;
  };

  const rows: (string | number)[][] = [];
  const aims: Aim[] = [];
  for (const { name, bytes, rounds } of sizes) {
    if (bytes > options.largestMebibytes * MIB) continue;
    const transfers = await measure(contentOf(bytes, writer.lineage), rounds);
    for (const direction of ["upload", "download"] as const) {
      const { raw, ours, growth, ratio } = figures(transfers, direction);
      const speed = bytes / MIB / (ours / 1000);
      rows.push([name, direction, raw, ours, speed, ratio, growth / MIB]);
      if (bytes >= 100 * MIB) aims.push(atLeast(`(d) ${direction} of ${name}, of raw`, 0.8, ratio));
      if (bytes >= 1024 * MIB) {
        aims.push(
          atMost(`(d) growth of state's memory, ${direction} of ${name}`, 64, growth / MIB, " MiB"),
        );
      }
    }
  }
  await expectStatus(200, four.api.post(`/workspaces/${workspaceId}/actions/unlock`));
  printTable(
    "(d) state bytes beside raw PUT and GET to the same MinIO, one at a time",
    ["size", "", "raw ms", "ours ms", "MiB/s", "of raw", "RSS +MiB"],
    rows,
  );
  print("    RSS: of the state process, its extraction of outputs not included.");
  return aims;
}

function figures({ raw, ours, growth }: Transfers, direction: Direction) {
  const ratios = raw[direction].map((ms, round) => ms / (ours[direction][round] ?? Number.NaN));
  return {
    raw: median(raw[direction]),
    ours: median(ours[direction]),
    growth: growth[direction],
    ratio: median(ratios),
  };
}

/** Returns a lineage, and a function that creates the next state version of this lineage in a locked workspace. */
async function stateWriter({ api }: BenchFixture, workspaceId: string) {
  const path = `/workspaces/${workspaceId}`;
  const current = await expectStatus(200, api.get(`${path}/current-state-version`));
  let { serial } = current.body.data.attributes;
  const lineage: string = current.body.data.attributes.lineage ?? randomUUID();
  return {
    lineage,
    async announce({ md5 }: Content) {
      serial++;
      const created = await expectStatus(
        201,
        api.post(`${path}/state-versions`, document("state-versions", { serial, md5, lineage })),
      );
      const { id, attributes } = created.body.data;
      return {
        uploadUrl: String(attributes["hosted-state-upload-url"]),
        /**
         * Waits until the version is extracted, because extraction would use CPU time during the next measurement.
         * Returns the download URL.
         */
        processed: (): Promise<string> =>
          waitFor(
            async () => {
              const shown = await api.get(`/state-versions/${id}`);
              const { attributes } = shown.body.data;
              return attributes["resources-processed"] && attributes["hosted-state-download-url"];
            },
            { timeout: 60_000, what: "the extraction of a state" },
          ),
      };
    },
  };
}
