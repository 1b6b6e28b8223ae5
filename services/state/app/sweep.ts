import type { App } from "./app.ts";

/** Those of `keys` that a version refers to. Keys of young attempts have no owner yet: sweep by age. */
export declare function isOwned(app: App, keys: readonly string[]): Promise<Set<string>>;

/** Takes some keys whose last reference is gone, for a few minutes; their bytes are to be deleted. */
export declare function takeBlobDeletions(app: App): Promise<string[]>;

/** Forgets keys whose bytes are deleted; those not confirmed are handed out again. */
export declare function confirmBlobDeletions(app: App, keys: readonly string[]): Promise<void>;
