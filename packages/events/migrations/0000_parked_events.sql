create table parked_events (
  consumer text not null,
  event_id text not null,
  type text not null,
  source text not null,
  subject text not null,
  revision bigint not null,
  message text not null,
  traceparent text,
  time timestamptz not null,
  failures integer not null,
  error text not null,
  parked_at timestamptz not null default now(),
  primary key (consumer, event_id)
);
