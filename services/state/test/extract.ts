import type { Extraction } from "../extraction/domain.ts";
import { type PackedExtraction, packed } from "../state-file/packed-extraction-domain.ts";
import { StateFileParser } from "../state-file/parser-domain.ts";
import { outputsFrom } from "../state-version-output/domain.ts";

/** Extracts a state file in chunks of `size` bytes. */
export function extractStateFile(text: string, size = 64 * 1024): Extraction {
  const parser = new StateFileParser();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) parser.write(bytes.subarray(at, at + size));
  return parser.end();
}

/** A key for computing digests in tests. */
export const digestKey = { id: "k1", key: Buffer.alloc(32, 1).toString("base64") };

/** Returns the extraction of a state that has three instances of one resource and the given outputs. */
export const extractionOf = (outputs: unknown): PackedExtraction =>
  packed(
    {
      serial: 1n,
      lineage: "a",
      formatVersion: 4,
      engineVersion: "1.11.0",
      resources: [{ name: "r", type: "terraform_data", count: 3, module: "root", provider: "p" }],
      modules: { root: { terraform_data: 3 } },
      providers: { p: { terraform_data: 3 } },
      resourceCount: 3,
      billableCount: 0,
      instances: [],
      outputs: outputsFrom(outputs) ?? [],
      opaque: null,
    },
    digestKey,
  );
