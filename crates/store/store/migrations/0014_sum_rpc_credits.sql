-- What each owner was charged by the JSON-RPC proxy in each quarter of an hour of the last days: a
-- start counts the credits of the last day from here. It had an index on the rows of usage, which
-- every row that was added had to be held against, and a start read all the rows of a day.
-- `quarter` counts from 1970.
CREATE TABLE rpc_spent (
    quarter INTEGER NOT NULL,
    owner BLOB NOT NULL,
    credits INTEGER NOT NULL,
    PRIMARY KEY (quarter, owner)
) STRICT, WITHOUT ROWID;

INSERT INTO rpc_spent (quarter, owner, credits)
SELECT at_ms / 900000, owner, sum(units) FROM usage
WHERE sku GLOB 'crypto-rpc-*'
    AND (SELECT max(at_ms) - 172800000 FROM usage WHERE sku GLOB 'crypto-rpc-*') <= at_ms
GROUP BY 1, 2;

DROP INDEX usage_of_rpc;
