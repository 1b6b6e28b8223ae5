import { LRUCache } from "lru-cache";
import { resolveEngineVersion } from "./domain.ts";

const MAX_CACHED = 1000;

/**
 * Creates `App.resolveEngineVersion` for the known releases. Results are cached, because every workspace document
 * contains a resolved version and only a few different version texts are in use.
 */
export function createEngineVersionResolver(
  releases: readonly string[],
): (text: string) => string | null {
  const cache = new LRUCache<string, string>({
    max: MAX_CACHED,
    memoMethod: (text) => resolveEngineVersion(text, releases) ?? "",
  });
  return (text) => cache.memo(text) || null;
}
