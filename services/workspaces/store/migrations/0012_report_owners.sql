-- The runner that reported a run or configuration version first owns it. Null: reported before this was recorded; the
-- next runner that reports it becomes its owner.
alter table runs add column runner text;
alter table configuration_versions add column runner text;
