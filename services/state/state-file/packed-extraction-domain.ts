import type { Extraction } from "../extraction/domain.ts";
import { type DigestKey, digestsOf, type StateDigests } from "../state-digest/domain.ts";

/** Lists show at most this number of resources of each version. */
export const MAX_LISTED_RESOURCES = 100;
/**
 * If a version has more than `MAX_LISTED_RESOURCES` resources, lists also omit its modules or providers if their JSON
 * text has more characters than this.
 */
export const MAX_LISTED_TEXT = 65_536;

/** An extraction whose large parts are already JSON text from the worker thread. No domain rule uses those parts. */
export type PackedExtraction = Omit<Extraction, Packed> &
  Record<Packed, string> & {
    /** Null if the content is unreadable. */
    digests: StateDigests | null;
    resourceEntries: number;
    /**
     * The resources, modules and providers that lists of versions show; null if the lists show all of them completely.
     */
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
