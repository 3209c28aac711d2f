-- Payments that were credited and that their chain does not show any more: a reorganisation went
-- deeper than the confirmations that were waited for. The books cannot say where that money is, so
-- verifying them tells of it for as long as a row is here.
CREATE TABLE missing_claim (
    claim BLOB PRIMARY KEY REFERENCES claim (id),
    since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_credited ON claim (changed_ms) WHERE state = 'CREDITED';
