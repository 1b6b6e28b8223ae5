/** The content is not a readable state; another attempt fails the same way. */
export class StateFileError extends Error {
  override readonly name: string = "StateFileError";
}

/** Time or memory did not suffice; one of the few later attempts may succeed. */
export class StateReadingError extends StateFileError {
  override readonly name = "StateReadingError";
}

/** Text that PostgreSQL stores: invalid characters (NUL, unpaired surrogates) become U+FFFD. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

/** A resource of a state, as its document lists it. */
export interface StateResource {
  name: string;
  /** Data sources have the prefix `data.`. */
  type: string;
  count: number;
  module: string;
  provider: string;
}

/** An output in a state; `valueJson` and `detailedTypeJson` are JSON text, kept byte for byte. */
export interface ExtractedOutput {
  name: string;
  sensitive: boolean;
  /** string, number, bool, array, map, object, as documents show it. */
  type: string;
  detailedTypeJson: string;
  valueJson: string;
}

/** One instance of a managed resource, as the workspace's resources list it. */
export interface ResourceInstance {
  /** In the configuration, with module and index; unique within a state. */
  address: string;
  name: string;
  module: string;
  /** In short form: `hashicorp/aws`. */
  provider: string;
  type: string;
  nameIndex: string | null;
  /** Digest of its complete content: a different digest means that the instance has changed. */
  digest: string;
}

/** Resource types with their counts, by module or by provider. */
export type ResourceCounts = Record<string, Record<string, number>>;

/** The result of extracting a raw state. */
export interface Extraction {
  /** As in the file; null if the file has none. Only compared with the serial of the request, for a warning. */
  serial: bigint | null;
  lineage: string | null;
  formatVersion: number | null;
  engineVersion: string | null;
  resources: StateResource[];
  /** Instances of managed resources; safe delete is refused while there are any. */
  resourceCount: number;
  /** Number of those instances that usage-based plans bill. */
  billableCount: number;
  instances: ResourceInstance[];
  modules: ResourceCounts;
  providers: ResourceCounts;
  outputs: ExtractedOutput[];
  /** Why the content is unreadable (an encrypted state); the number of resources is then unknown, not zero. */
  opaque: string | null;
}

/** An extraction whose large parts, which no rule uses, are already JSON text from the worker thread. */
export type PackedExtraction = Omit<Extraction, Packed> & Record<Packed, string>;
type Packed = "resources" | "modules" | "providers" | "instances";

export const packed = (extraction: Extraction): PackedExtraction => ({
  ...extraction,
  resources: JSON.stringify(extraction.resources),
  modules: JSON.stringify(extraction.modules),
  providers: JSON.stringify(extraction.providers),
  instances: JSON.stringify(extraction.instances),
});
