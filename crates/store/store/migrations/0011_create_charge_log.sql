-- Charges that are durable and acknowledged, and not in their tables yet: the groups of one commit
-- in a row, in the form that `charge_log/codec.rs` writes. Rows go when their groups are posted, in
-- the transaction that posts them; whoever opens the database posts what is left here first.
CREATE TABLE charge_log (
    seq INTEGER PRIMARY KEY,
    charges BLOB NOT NULL CHECK (0 < length(charges))
) STRICT;
