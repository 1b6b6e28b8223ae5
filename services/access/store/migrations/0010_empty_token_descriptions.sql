-- Tokens of one team may have equal descriptions if these are empty.
drop index tokens_description_key;
create unique index tokens_description_key on tokens (team_id, description)
  where type = 'team' and slot = 'described' and description <> '';
