-- How many rows the audit trail was given, so that verifying finds one that is gone, at the end of
-- the trail too.
CREATE TABLE audit_count (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    rows INTEGER NOT NULL CHECK (0 <= rows)
) STRICT;

INSERT INTO audit_count (id, rows) SELECT 1, count(*) FROM audit;

CREATE TRIGGER audit_counted AFTER INSERT ON audit
BEGIN UPDATE audit_count SET rows = rows + 1; END;
