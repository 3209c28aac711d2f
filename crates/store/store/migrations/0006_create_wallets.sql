-- Wallets that sign in: what they signed is used once, and an account may lend them its balance.

-- Nonces that were used, until the message that carries them is refused for its age anyway.
CREATE TABLE wallet_nonce (
    wallet TEXT NOT NULL CHECK (length(wallet) BETWEEN 1 AND 128),
    nonce TEXT NOT NULL CHECK (length(nonce) BETWEEN 1 AND 128),
    until_ms INTEGER NOT NULL,
    PRIMARY KEY (wallet, nonce)
) STRICT, WITHOUT ROWID;

CREATE INDEX wallet_nonce_by_expiry ON wallet_nonce (until_ms);

-- Wallets that spend the balance of an account instead of one of their own.
CREATE TABLE wallet_link (
    kind TEXT NOT NULL CHECK (kind IN ('evm', 'solana')),
    address TEXT NOT NULL CHECK (length(address) BETWEEN 1 AND 128),
    owner BLOB NOT NULL REFERENCES owner (id),
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, address)
) STRICT, WITHOUT ROWID;

-- Money that came in or lapsed, for an owner's statement. Charges and refunds, which are many, are
-- not in these indexes: a statement reads them from the usage.
CREATE INDEX transfer_in ON transfer (credit, seq) WHERE code IN (1, 2, 3);
CREATE INDEX transfer_out ON transfer (debit, seq) WHERE code IN (4, 8);
