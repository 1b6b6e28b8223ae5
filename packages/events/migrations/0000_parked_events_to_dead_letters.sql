alter table parked_events rename to dead_letters;
alter table dead_letters rename column parked_at to created_at;
alter index parked_events_pkey rename to dead_letters_pkey;
