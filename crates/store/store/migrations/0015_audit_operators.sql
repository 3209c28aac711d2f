-- What operators did to money, one row for each command that moved any: written in the transaction
-- that did it, and never changed. What the store did to money of its own accord after damage is
-- here too, under the actor `tollgate`.
CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL CHECK (length(actor) BETWEEN 1 AND 128),
    action TEXT NOT NULL CHECK (length(action) BETWEEN 1 AND 64),
    subject TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;

CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit trail is only added to'); END;

CREATE TRIGGER audit_never_goes BEFORE DELETE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit trail is only added to'); END;

-- Money that a chain shows for payments that had failed here. It is noted before it is credited, so
-- that verifying the books tells of it for as long as it is nobody's.
CREATE TABLE received_claim (
    claim BLOB PRIMARY KEY REFERENCES claim (id),
    transaction_id TEXT NOT NULL,
    amount_nano INTEGER NOT NULL CHECK (0 < amount_nano),
    since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
