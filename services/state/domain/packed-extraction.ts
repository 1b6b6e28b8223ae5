import type { Extraction } from "./extraction.ts";
import { type DigestKey, digestsOf, type StateDigests } from "./state-digest.ts";

/** An extraction whose large parts are already JSON text from the worker thread. No domain rule uses those parts. */
export type PackedExtraction = Omit<Extraction, Packed> &
  Record<Packed, string> & {
    /** Null if the content is unreadable. */
    digests: StateDigests | null;
  };
type Packed = "resources" | "modules" | "providers" | "instances";

export const packed = (extraction: Extraction, key: DigestKey): PackedExtraction => ({
  ...extraction,
  digests: extraction.opaque === null ? digestsOf(extraction, key) : null,
  resources: JSON.stringify(extraction.resources),
  modules: JSON.stringify(extraction.modules),
  providers: JSON.stringify(extraction.providers),
  instances: JSON.stringify(extraction.instances),
});
