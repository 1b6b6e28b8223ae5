import { md5Of } from "../stack/state.ts";

/** Names of all bytes, keyed by their md5. The model refers to bytes only by these names. */
const names = new Map<string, string>();

/** Returns a state with this serial and lineage; another `variant` gives other bytes of the same length. */
export function rawBytes(serial: number, lineage: string, variant: number): Named {
  const marker = `${variant}`.repeat(2000);
  const content = { version: 4, terraform_version: "1.11.0", serial, lineage, marker };
  return named(
    Buffer.from(
      JSON.stringify({
        ...content,
        outputs: { variant: { value: variant, type: "number" } },
        resources: [],
      }),
    ),
    `raw ${serial} ${lineage} ${variant}`,
  );
}

/** Returns the JSON form of a state; its bytes are different for each `variant`. */
export const jsonBytes = (variant: number): Named =>
  named(Buffer.from(JSON.stringify({ format_version: "1.0", variant })), `json ${variant}`);

export interface Named {
  name: string;
  bytes: Buffer;
}

function named(bytes: Buffer, name: string): Named {
  names.set(md5Of(bytes), name);
  return { name, bytes };
}

/** Returns the name of the bytes with this md5; the md5 itself if the bytes are unknown. */
export const nameOf = (md5: string): string => names.get(md5) ?? md5;
