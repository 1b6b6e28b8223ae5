/** The content is not a readable state; another attempt would fail in the same way. */
export class StateFileError extends Error {
  override readonly name: string = "StateFileError";
}

/** Time or memory was insufficient; one of a few later attempts may succeed. */
export class StateReadingError extends StateFileError {
  override readonly name = "StateReadingError";
}

/** Returns the text in a form that PostgreSQL can store: NUL and unpaired surrogates are replaced with U+FFFD. */
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

/** An output in a state. `valueJson` and `detailedTypeJson` are JSON text, kept byte for byte. */
export interface ExtractedOutput {
  name: string;
  sensitive: boolean;
  /** One of `string`, `number`, `bool`, `array`, `map`, `object` and `dynamic`, as documents show it. */
  type: string;
  detailedTypeJson: string;
  valueJson: string;
}

/** One instance of a managed resource, as the workspace's resources list it. */
export interface ResourceInstance {
  /** Address in the configuration, with module and index; unique within a state. */
  address: string;
  name: string;
  module: string;
  /** In short form: `hashicorp/aws`. */
  provider: string;
  type: string;
  nameIndex: string | null;
  /** Digest of the instance's complete content. If it differs, the instance has changed. */
  digest: string;
}

/** Resource types with their counts, by module or by provider. */
export type ResourceCounts = Record<string, Record<string, number>>;

/** The result of extracting a raw state. */
export interface Extraction {
  /**
   * Serial in the file; null if the file has none. Used only to log a warning if it differs from the request's serial.
   */
  serial: bigint | null;
  lineage: string | null;
  formatVersion: number | null;
  engineVersion: string | null;
  resources: StateResource[];
  /** Number of instances of managed resources; a safe deletion is refused unless it is zero. */
  resourceCount: number;
  /** Number of instances of managed resources that usage-based plans bill. */
  billableCount: number;
  instances: ResourceInstance[];
  modules: ResourceCounts;
  providers: ResourceCounts;
  outputs: ExtractedOutput[];
  /**
   * Why the content is unreadable, for example because it is encrypted. The number of resources is then unknown, not
   * zero.
   */
  opaque: string | null;
}
