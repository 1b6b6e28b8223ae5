/** A resource of a state, as its document lists it. */
export interface StateResource {
  name: string;
  /** `data.` before that of a data source. */
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

/** One instance of a managed resource, as the workspace's resources list it. */
export interface ResourceInstance {
  /** In the configuration, with module and index; unique within a state. */
  address: string;
  name: string;
  module: string;
  /** As people write it: `hashicorp/aws`. */
  provider: string;
  type: string;
  nameIndex: string | null;
  /** Of everything that the state says of it: another digest is another instance. */
  digest: string;
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
  resources: StateResource[];
  /** Instances of managed resources: what safe delete refuses to forget. */
  resourceCount: number;
  /** Those of them that count where usage is billed. */
  billableCount: number;
  instances: ResourceInstance[];
  modules: ResourceCounts;
  providers: ResourceCounts;
  outputs: ExtractedOutput[];
  /** Why the content cannot be seen (an encrypted state); resources are then unknown, not none. */
  opaque: string | null;
}

/** An extraction whose large parts, which no rule looks at, are JSON already: read off the event loop. */
export type PackedExtraction = Omit<Extraction, Packed> & Record<Packed, string>;
type Packed = "resources" | "modules" | "providers" | "instances";

export const packed = (extraction: Extraction): PackedExtraction => ({
  ...extraction,
  resources: JSON.stringify(extraction.resources),
  modules: JSON.stringify(extraction.modules),
  providers: JSON.stringify(extraction.providers),
  instances: JSON.stringify(extraction.instances),
});
