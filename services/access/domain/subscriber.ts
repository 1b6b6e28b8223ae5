/** A subscriber to events, as the setting EVENT_SUBSCRIBERS declares it. */
export interface Subscriber {
  durable: string;
  /** The subjects that it may receive. */
  filter: string;
  /** Its nkeys: several while they are rotated. */
  publicKeys: readonly string[];
}
