import type { Extraction } from "./extraction.ts";
import { type DigestKey, digestsOf, type StateDigests } from "./state-digest.ts";

/** Largest number of resources for each version in a list. */
export const MAX_LISTED_RESOURCES = 100;
/** Lists omit modules and providers whose JSON is longer. */
export const MAX_LISTED_TEXT = 65_536;

/** An extraction whose large parts are already JSON text from the worker thread. No domain rule uses those parts. */
export type PackedExtraction = Omit<Extraction, Packed> &
  Record<Packed, string> & {
    /** Null if the content is unreadable. */
    digests: StateDigests | null;
    resourceEntries: number;
    /** What lists of versions show; null if they show the contents completely. */
    listed: Record<"resources" | "modules" | "providers", string> | null;
  };
type Packed = "resources" | "modules" | "providers" | "instances";

export function packed(extraction: Extraction, key: DigestKey): PackedExtraction {
  const modules = JSON.stringify(extraction.modules);
  const providers = JSON.stringify(extraction.providers);
  const resourceEntries = extraction.resources.length;
  return {
    ...extraction,
    digests: extraction.opaque === null ? digestsOf(extraction, key) : null,
    resources: JSON.stringify(extraction.resources),
    modules,
    providers,
    instances: JSON.stringify(extraction.instances),
    resourceEntries,
    listed:
      resourceEntries <= MAX_LISTED_RESOURCES
        ? null
        : {
            resources: JSON.stringify(extraction.resources.slice(0, MAX_LISTED_RESOURCES)),
            modules: modules.length <= MAX_LISTED_TEXT ? modules : "",
            providers: providers.length <= MAX_LISTED_TEXT ? providers : "",
          },
  };
}
