alter table teams add column description text;
