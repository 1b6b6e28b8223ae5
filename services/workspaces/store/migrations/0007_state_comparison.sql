-- One row: where the comparison with state stands, shared by all replicas.
create table state_comparison (
  only_row boolean primary key default true check (only_row),
  through text not null check (through in ('theirs', 'ours')),
  after text not null,
  due_at timestamptz(3) not null
);
insert into state_comparison (through, after, due_at) values ('theirs', '', now());
