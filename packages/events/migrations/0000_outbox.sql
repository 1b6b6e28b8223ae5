create table outbox (
  id bigint generated always as identity primary key,
  event_id text not null,
  type text not null,
  subject text not null,
  revision bigint not null,
  message text not null,
  traceparent text,
  recorded_at timestamptz not null default clock_timestamp()
);
