-- Charges that are durable and not in their tables yet are rows again (`charge_log/codec.rs`): the
-- groups of one commit in each. The transaction that posts them deletes their rows, and rows that a
-- crash left are posted when the database is opened. The file that they were in is checked and
-- removed before this step (`charge_log/old_file.rs`).
CREATE TABLE charge_log (
    seq INTEGER PRIMARY KEY,
    charges BLOB NOT NULL CHECK (0 < length(charges))
) STRICT;

DROP TABLE charge_log_generation;
