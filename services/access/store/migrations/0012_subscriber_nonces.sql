-- The nonces of subscribers' credentials that are still valid, so that none can be used twice.
create table subscriber_nonces (
  public_key text not null,
  nonce text not null,
  expired_at timestamptz(3) not null,
  primary key (public_key, nonce)
);
create index subscriber_nonces_expired_at on subscriber_nonces (expired_at);
