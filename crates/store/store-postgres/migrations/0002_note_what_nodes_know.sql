-- The newest version of this schema that a node's program knows, so that a step which it could not
-- live with waits until it is replaced. Programs that know only version 1 do not write it: it counts
-- while `schema_epoch` is the epoch of the node.
ALTER TABLE node
    ADD COLUMN schema_known BIGINT NOT NULL DEFAULT 1,
    ADD COLUMN schema_epoch BIGINT NOT NULL DEFAULT 0;
