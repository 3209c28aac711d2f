-- Charges that are durable and not in their tables yet are in a file beside the database now
-- (`charge_log/file.rs`). Its records name the generation that they belong to. Posting them raises
-- it in the same transaction, so each record is posted once, whatever happens in between. A
-- generation starts anywhere, so that the file of another database is not taken for this one's.
CREATE TABLE charge_log_generation (
    is_only INTEGER PRIMARY KEY CHECK (is_only = 1),
    generation INTEGER NOT NULL
) STRICT;

CREATE TRIGGER charge_log_is_empty BEFORE INSERT ON charge_log_generation
WHEN EXISTS (SELECT 1 FROM charge_log)
BEGIN
    SELECT RAISE(ABORT, 'a crash has left charges in the table charge_log; start and stop the release that wrote them, which posts them, and then this one');
END;
INSERT INTO charge_log_generation VALUES (1, random() & 0x3FFFFFFFFFFFFFFF);
DROP TRIGGER charge_log_is_empty;
DROP TABLE charge_log;
