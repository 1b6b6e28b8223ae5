-- Events that are not published yet. A relay publishes them in the order of their ids and deletes them.
create table outbox (
  id bigint generated always as identity primary key,
  event_id text not null,
  type text not null,
  -- The id of the changed object.
  subject text not null,
  revision bigint not null,
  message text not null,
  traceparent text,
  -- Who made the change, in the form of the CloudEvents extension "auth context".
  auth_type text not null,
  auth_id text not null,
  recorded_at timestamptz not null default clock_timestamp()
);

-- Events that a consumer could not process, until an operator replays them.
create table dead_letters (
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
  created_at timestamptz not null default now(),
  primary key (consumer, event_id)
);
