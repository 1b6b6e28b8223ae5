/** A resource of a state, as its document lists it. */
export interface StateResource {
  name: string;
  type: string;
  count: number;
  module: string;
  provider: string;
}

/** An output as a state carries it; `value` and `detailedType` are JSON text, kept byte for byte. */
export interface ExtractedOutput {
  name: string;
  sensitive: boolean;
  /** string, number, bool, array, map, object, as clients read it. */
  type: string;
  detailedTypeJson: string;
  valueJson: string;
}

/** Resource types with their counts, by module or by provider. */
export type ResourceCounts = Record<string, Record<string, number>>;

/** What extraction finds in a raw state. */
export interface Extraction {
  /** The file's own; null where it has none. Only compared, with a warning. */
  serial: bigint | null;
  lineage: string | null;
  formatVersion: number | null;
  engineVersion: string | null;
  /** Managed ones only: what safe delete refuses to forget. Data sources are not counted. */
  resources: StateResource[];
  modules: ResourceCounts;
  providers: ResourceCounts;
  outputs: ExtractedOutput[];
  /** Why the content cannot be seen (an encrypted state); resources are then unknown, not none. */
  opaque: string | null;
}
