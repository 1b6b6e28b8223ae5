-- Whether a binding was added as a flat tag, by tag-names or the tags relationship. Null if an earlier release wrote the
-- binding: then those of workspaces without a value are flat tags.
alter table tag_bindings add column through_tags boolean;
