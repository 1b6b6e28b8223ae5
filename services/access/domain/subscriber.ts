/** A subscriber to events, as the setting EVENT_SUBSCRIBERS declares it. */
export interface Subscriber {
  durable: string;
  /** The subjects that the subscriber may receive. */
  filter: string;
  /** The public keys of its nkeys; there are several while the subscriber changes its nkey. */
  publicKeys: readonly string[];
}
