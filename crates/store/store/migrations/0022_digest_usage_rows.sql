-- A hash of the row's fields, written with the row, so that verifying finds a row that was changed
-- later, its request id included. Rows from before have none.
ALTER TABLE usage ADD COLUMN digest INTEGER;
