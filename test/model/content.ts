import { md5Of } from "../stack/state.ts";

/** Bytes by their names, and names by their bytes: the model uses only names. */
const names = new Map<string, string>();

/** The state with this serial and lineage; `variant` makes other bytes of the same length. */
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

/** A JSON form. */
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

/** The name of the bytes with this md5; for unknown bytes the md5 itself. */
export const nameOf = (md5: string): string => names.get(md5) ?? md5;
