import { type EntityManager, queryIn } from "@statehouse/postgres";

export interface SubscriberNonce {
  publicKey: string;
  nonce: string;
  expiredAt: Date;
}

/** The maximum number of expired nonces that one call deletes. The limit prevents slow calls. */
const EXPIRED_AT_ONCE = 100;

const rows = (em: EntityManager) => ({
  /** Stores the nonce; returns false if it is stored already. */
  async use({ publicKey, nonce, expiredAt }: SubscriberNonce): Promise<boolean> {
    const inserted = await queryIn(
      em,
      // index: subscriber_nonces_pkey
      `insert into subscriber_nonces (public_key, nonce, expired_at) values ($1, $2, $3)
       on conflict do nothing returning nonce`,
      [publicKey, nonce, expiredAt],
    );
    return inserted.length > 0;
  },

  async removeExpired(at: Date): Promise<void> {
    await queryIn(
      em,
      // index: subscriber_nonces_expired_at
      `delete from subscriber_nonces where ctid = any (array(
         select ctid from subscriber_nonces where expired_at < $1
         order by expired_at limit ${EXPIRED_AT_ONCE} for update skip locked))`,
      [at],
    );
  },
});

/** The nonces of credentials that subscribers have used. */
export const subscriberNonces = { rows };
