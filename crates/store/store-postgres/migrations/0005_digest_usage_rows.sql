-- A hash of the row's fields, written with the row, so that verifying finds a row that was changed
-- later, its request id included. Rows of earlier releases have none,
-- and neither have those that a node of one writes during an upgrade.
ALTER TABLE usage ADD COLUMN digest BIGINT;
