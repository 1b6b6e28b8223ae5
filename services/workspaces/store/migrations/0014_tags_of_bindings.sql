-- Whether a binding was added as a flat tag, by tag-names or the tags relationship. Existing bindings without a value are
-- taken for flat tags.
alter table tag_bindings add column through_tags boolean not null default false;
update tag_bindings set through_tags = true where value = '' and workspace_id is not null;
