-- Everything that the service keeps, as SQLite has it after its nineteenth step, without the charge
-- log, which is a matter of SQLite alone. Amounts are nano-units, times are milliseconds since 1970,
-- ids are UUIDs. Text that anything is sorted by is compared byte by byte, as SQLite does, whatever
-- the locale of the server.

-- Refuses whatever a trigger stands for, in the words of the trigger.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'check_violation';
END $$;

----- Nodes ---------------------------------------------------------------------------------------

-- Processes that write to this database. A node may write while its lease runs, by the clock of the
-- database; another epoch ends what was begun under the one before. Rows are seats: one that was
-- empty for long is taken by a node of another name.
CREATE TABLE node (
    id UUID PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 128),
    address TEXT NOT NULL,
    -- It decides about all money by what it has in memory, so no other node may work beside it.
    is_alone BOOLEAN NOT NULL,
    epoch BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    -- Makes the epoch part of a key. Whoever writes holds the row FOR KEY SHARE: extending the lease
    -- does not wait for that, raising the epoch does.
    UNIQUE (id, epoch)
) WITH (fillfactor = 50);

-- Which node decides about an owner's money. A row counts while the node has that epoch.
CREATE TABLE owner_lease (
    owner UUID PRIMARY KEY,
    node UUID NOT NULL,
    epoch BIGINT NOT NULL
);

CREATE INDEX owner_lease_by_node ON owner_lease (node);

-- The transactions of each node whose end it may not have heard of: whoever lost a connection runs
-- its transaction again, and meets its own row if it was committed.
CREATE TABLE batch (
    node UUID NOT NULL,
    epoch BIGINT NOT NULL,
    number BIGINT NOT NULL,
    at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (node, epoch, number)
);

----- Owners and keys -----------------------------------------------------------------------------

CREATE TABLE owner (
    id UUID PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('account', 'evm', 'solana')),
    name TEXT COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
    tier TEXT NOT NULL DEFAULT 'default',
    created_ms BIGINT NOT NULL,
    -- Since when nothing of it may be spent, and nobody may come in by it.
    frozen_ms BIGINT,
    UNIQUE (kind, name)
);

CREATE TABLE api_key (
    id UUID PRIMARY KEY,
    owner UUID NOT NULL REFERENCES owner (id),
    digest BYTEA NOT NULL UNIQUE CHECK (length(digest) = 32),
    last6 TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('INFERENCE', 'ADMIN')),
    description TEXT NOT NULL,
    limit_usd BIGINT CHECK (0 <= limit_usd),
    limit_diem BIGINT CHECK (0 <= limit_diem),
    limit_period TEXT NOT NULL CHECK (limit_period IN ('EPOCH', 'MONTH', 'LIFETIME')),
    expires_ms BIGINT,
    created_ms BIGINT NOT NULL,
    last_used_ms BIGINT,
    revoked_ms BIGINT,
    -- Since when it has its limits, so that what it spent can be held against them.
    limits_since_ms BIGINT NOT NULL,
    model_privacy TEXT NOT NULL
        CHECK (model_privacy IN ('ALL', 'PRIVATE_TEXT', 'PRIVATE_ONLY'))
) WITH (fillfactor = 90);

-- Lists of an owner's keys come newest first. Revoked keys stay for the usage that names them,
-- and are listed nowhere.
CREATE INDEX api_key_by_owner ON api_key (owner, created_ms) WHERE revoked_ms IS NULL;
-- Whoever leases an owner reads what all its keys spent.
CREATE INDEX api_key_of_owner ON api_key (owner);

-- Requests that a rate limit refused: the last fifty of each owner.
CREATE TABLE limit_hit (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner UUID NOT NULL REFERENCES owner (id),
    key UUID REFERENCES api_key (id),
    model TEXT NOT NULL,
    tier TEXT NOT NULL,
    kind TEXT NOT NULL,
    at_ms BIGINT NOT NULL
);

CREATE INDEX limit_hit_by_owner ON limit_hit (owner, seq);

-- What the installation knows about itself, such as the pepper of its keys.
CREATE TABLE setting (
    name TEXT COLLATE "C" PRIMARY KEY,
    value BYTEA NOT NULL
);

-- Nonces that were used, until the message that carries them is refused for its age anyway.
CREATE TABLE wallet_nonce (
    wallet TEXT COLLATE "C" NOT NULL CHECK (length(wallet) BETWEEN 1 AND 128),
    nonce TEXT COLLATE "C" NOT NULL CHECK (length(nonce) BETWEEN 1 AND 128),
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (wallet, nonce)
);

CREATE INDEX wallet_nonce_by_expiry ON wallet_nonce (until_ms);

-- Wallets that spend the balance of an account instead of one of their own.
CREATE TABLE wallet_link (
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('evm', 'solana')),
    address TEXT COLLATE "C" NOT NULL CHECK (length(address) BETWEEN 1 AND 128),
    owner UUID NOT NULL REFERENCES owner (id),
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (kind, address)
);

----- Money ---------------------------------------------------------------------------------------

-- `transfer` is the truth and is only ever added to; the sums in `account`, `key_spend` and
-- `job_hold` are folds of it, kept in the same transaction so that a start reads no history.

-- A lot of an owner's money, or a system account, which has no owner. A lot can neither be
-- overdrawn nor lend what is pending for a job, and a closed one is empty. The id follows from the
-- other names, so that nobody has to look it up.
CREATE TABLE account (
    id UUID PRIMARY KEY,
    owner UUID REFERENCES owner (id),
    -- A system account has a row for each node: all nodes move money by it, and none should wait for
    -- another. Readers add the rows up.
    node UUID CHECK ((node IS NULL) = (owner IS NOT NULL)),
    currency TEXT COLLATE "C" NOT NULL
        CHECK (currency IN ('USD', 'DIEM', 'BUNDLED_CREDITS', 'VCU')),
    name TEXT COLLATE "C" NOT NULL,
    opened_ms BIGINT NOT NULL,
    expires_ms BIGINT,
    is_closed BOOLEAN NOT NULL DEFAULT FALSE,
    granted BIGINT NOT NULL DEFAULT 0,
    debits BIGINT NOT NULL DEFAULT 0 CHECK (0 <= debits),
    credits BIGINT NOT NULL DEFAULT 0 CHECK (0 <= credits),
    pending BIGINT NOT NULL DEFAULT 0 CHECK (0 <= pending),
    CHECK (owner IS NULL OR debits + pending <= credits),
    CHECK (NOT is_closed OR debits + pending = credits)
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX account_of_owner ON account (owner, currency, name) WHERE owner IS NOT NULL;
CREATE UNIQUE INDEX account_of_system ON account (currency, name, node) WHERE owner IS NULL;
CREATE INDEX account_open ON account (owner) WHERE NOT is_closed;

CREATE TABLE transfer (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    entry UUID NOT NULL,
    leg INTEGER NOT NULL CHECK (0 <= leg),
    debit UUID NOT NULL REFERENCES account (id),
    credit UUID NOT NULL REFERENCES account (id),
    amount BIGINT NOT NULL CHECK (0 < amount),
    code SMALLINT NOT NULL CHECK (code BETWEEN 1 AND 8),
    at_ms BIGINT NOT NULL,
    key UUID REFERENCES api_key (id),
    key_day BIGINT CHECK ((key_day IS NULL) = (key IS NULL)),
    key_month BIGINT CHECK ((key_month IS NULL) = (key IS NULL)),
    CHECK (debit <> credit)
);

-- The long memory of what was done: a command that is sent again meets its own rows.
CREATE UNIQUE INDEX transfer_once ON transfer (entry, leg);

-- Money that came in or lapsed, for an owner's statement. Charges and refunds, which are many, are
-- not in these indexes: a statement reads them from the usage.
CREATE INDEX transfer_in ON transfer (credit, seq) WHERE code <= 3;
CREATE INDEX transfer_out ON transfer (debit, seq) WHERE code IN (4, 8);

CREATE TRIGGER transfer_never_changes BEFORE UPDATE OR DELETE OR TRUNCATE ON transfer
    EXECUTE FUNCTION refuse('the journal is only added to');

-- What an owner gets each day or month, and the newest period that was handed out.
CREATE TABLE allowance (
    owner UUID NOT NULL REFERENCES owner (id),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('DIEM_DAILY', 'BUNDLED_MONTHLY')),
    amount BIGINT NOT NULL DEFAULT 0 CHECK (0 <= amount),
    opened_period BIGINT,
    PRIMARY KEY (owner, kind)
);

-- Changes of allowances need no transfer, so they have a memory of their own.
CREATE TABLE allowance_change (
    entry UUID PRIMARY KEY,
    owner UUID NOT NULL REFERENCES owner (id),
    kind TEXT NOT NULL,
    amount BIGINT NOT NULL,
    at_ms BIGINT NOT NULL
);

-- What a key spent in the newest day and month that it spent anything in, and ever.
CREATE TABLE key_spend (
    key UUID NOT NULL,
    class TEXT COLLATE "C" NOT NULL CHECK (class IN ('USD', 'DIEM')),
    day BIGINT NOT NULL,
    day_spent BIGINT NOT NULL,
    month BIGINT NOT NULL,
    month_spent BIGINT NOT NULL,
    lifetime_spent BIGINT NOT NULL,
    PRIMARY KEY (key, class)
) WITH (fillfactor = 70);

-- Holds of jobs that outlive the process; the row goes when the hold ends.
CREATE TABLE job_hold (
    id UUID PRIMARY KEY,
    owner UUID NOT NULL REFERENCES owner (id),
    made_ms BIGINT NOT NULL,
    key UUID REFERENCES api_key (id),
    limit_usd BIGINT,
    limit_diem BIGINT,
    limit_period TEXT,
    key_day BIGINT,
    key_month BIGINT
);

CREATE INDEX job_hold_by_owner ON job_hold (owner);

CREATE TABLE job_hold_leg (
    hold UUID NOT NULL REFERENCES job_hold (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    account UUID NOT NULL REFERENCES account (id),
    amount BIGINT NOT NULL CHECK (0 < amount),
    PRIMARY KEY (hold, position)
);

----- Usage ---------------------------------------------------------------------------------------

-- What was charged for, line by line: read by its owner, and prunable, because balances and
-- totals do not depend on it. Owners and keys are not checked again here: each row is written with
-- transfers whose accounts and key are.
CREATE TABLE usage (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    charge UUID NOT NULL,
    owner UUID NOT NULL,
    key UUID,
    at_ms BIGINT NOT NULL,
    sku TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    units BIGINT NOT NULL CHECK (0 <= units),
    price_pico BIGINT NOT NULL CHECK (0 <= price_pico),
    price_per BIGINT NOT NULL CHECK (price_per IN (1, 1000, 1000000)),
    amount BIGINT NOT NULL,
    request_id TEXT NOT NULL,
    prompt_tokens BIGINT,
    completion_tokens BIGINT,
    execution_ms BIGINT,
    notes TEXT NOT NULL
);

-- An owner's rows in the order they are read.
CREATE INDEX usage_of_owner ON usage (owner, at_ms, seq);

-- The same amounts summed by UTC day, in the transaction that adds the rows. Totals, analytics
-- and the number of pages come from here, so they cost the same however long the history is.
-- A key of zeros stands for a wallet, which has none.
CREATE TABLE usage_daily (
    owner UUID NOT NULL,
    day BIGINT NOT NULL,
    currency TEXT COLLATE "C" NOT NULL,
    key UUID NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    sku TEXT COLLATE "C" NOT NULL,
    row_count BIGINT NOT NULL CHECK (0 <= row_count),
    units BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    PRIMARY KEY (owner, day, currency, key, model, sku)
) WITH (fillfactor = 70);

----- The JSON-RPC proxy --------------------------------------------------------------------------

-- Answers to requests that carried an idempotency key, given again to whoever sends the same
-- request. A row is written with the charge for the work, or not at all.
CREATE TABLE idempotency (
    owner UUID NOT NULL REFERENCES owner (id),
    key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL CHECK (length(fingerprint) = 32),
    headers TEXT NOT NULL,
    body BYTEA NOT NULL,
    expires_ms BIGINT NOT NULL,
    PRIMARY KEY (owner, key)
);

CREATE INDEX idempotency_by_expiry ON idempotency (expires_ms);

-- How much of the above each owner takes up, so that it can be bounded without counting.
CREATE TABLE idempotency_total (
    owner UUID PRIMARY KEY,
    answers BIGINT NOT NULL,
    bytes BIGINT NOT NULL
) WITH (fillfactor = 70);

CREATE FUNCTION idempotency_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO idempotency_total AS total (owner, answers, bytes)
        VALUES (NEW.owner, 1, length(NEW.body))
        ON CONFLICT (owner) DO UPDATE
        SET answers = total.answers + 1, bytes = total.bytes + excluded.bytes;
    ELSE
        UPDATE idempotency_total SET answers = answers - 1, bytes = bytes - length(OLD.body)
        WHERE owner = OLD.owner;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER idempotency_counted AFTER INSERT OR DELETE ON idempotency
    FOR EACH ROW EXECUTE FUNCTION idempotency_counted();

-- The signed transactions that were sent to a chain: who and when, never what. A hash is absent
-- where neither we nor the node could tell it.
CREATE TABLE rpc_tx (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tx_hash TEXT COLLATE "C",
    network TEXT NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    owner UUID NOT NULL REFERENCES owner (id),
    at_ms BIGINT NOT NULL
);

CREATE INDEX rpc_tx_by_hash ON rpc_tx (tx_hash, seq);
-- Transactions whose hash only a node can tell wait here for their name; few do, and not for long.
CREATE INDEX rpc_tx_unnamed ON rpc_tx (request_id, seq) WHERE tx_hash IS NULL;

-- What each owner was charged by the proxy in each quarter of an hour of the last days: a start
-- counts the credits of the last day from here. `quarter` counts from 1970.
CREATE TABLE rpc_spent (
    quarter BIGINT NOT NULL,
    owner UUID NOT NULL,
    credits BIGINT NOT NULL,
    PRIMARY KEY (quarter, owner)
) WITH (fillfactor = 70);

----- Payments ------------------------------------------------------------------------------------

-- Payments on their way to a chain. A row is there before the chain is asked anything, and what is
-- sent is in it before it is sent, so that a crash at any moment leaves a question that the chain
-- can answer.
CREATE TABLE claim (
    id BYTEA PRIMARY KEY CHECK (length(id) = 20),
    network TEXT COLLATE "C" NOT NULL,
    asset TEXT COLLATE "C" NOT NULL,
    payer TEXT COLLATE "C" NOT NULL,
    -- What the chain spends once: the nonce of an authorization, or the hash of a message.
    nonce BYTEA NOT NULL CHECK (length(nonce) = 32),
    pay_to TEXT NOT NULL,
    units BIGINT NOT NULL CHECK (0 < units),
    payment TEXT NOT NULL,
    state TEXT COLLATE "C" NOT NULL
        CHECK (state IN ('VERIFIED', 'SUBMITTED', 'UNKNOWN', 'CREDITED', 'FAILED')),
    transaction_id TEXT,
    raw BYTEA,
    sequence BIGINT,
    since_block BIGINT,
    reason TEXT,
    credited_nano BIGINT CHECK (0 < credited_nano),
    entry UUID,
    created_ms BIGINT NOT NULL,
    changed_ms BIGINT NOT NULL,
    -- When what the claim holds now was written down to be sent.
    sent_ms BIGINT,
    -- What was sent before under the same number, with a space between the names.
    replaced TEXT NOT NULL DEFAULT '',
    -- Money is there with a transaction that moved it, and only then.
    CHECK ((state = 'CREDITED') = (credited_nano IS NOT NULL)),
    CHECK ((state = 'CREDITED') = (entry IS NOT NULL)),
    CHECK (state <> 'CREDITED' OR transaction_id IS NOT NULL),
    CHECK (state <> 'FAILED' OR reason IS NOT NULL)
);

CREATE UNIQUE INDEX claim_once ON claim (network, asset, payer, nonce);
CREATE INDEX claim_unfinished ON claim (created_ms, id)
    WHERE state IN ('VERIFIED', 'SUBMITTED', 'UNKNOWN');
CREATE INDEX claim_failed ON claim (changed_ms, id) WHERE state = 'FAILED';
CREATE INDEX claim_credited ON claim (changed_ms, id) WHERE state = 'CREDITED';

CREATE TRIGGER claim_credited_never_changes BEFORE UPDATE ON claim
    FOR EACH ROW WHEN (OLD.state = 'CREDITED')
    EXECUTE FUNCTION refuse('a credited payment is never changed');

CREATE TRIGGER claim_never_goes BEFORE DELETE ON claim
    FOR EACH ROW WHEN (OLD.state <> 'FAILED')
    EXECUTE FUNCTION refuse('only failed payments are forgotten');

-- Payments that were credited and that their chain does not show any more. The books cannot say
-- where that money is, so verifying them tells of it for as long as a row is here.
CREATE TABLE missing_claim (
    claim BYTEA PRIMARY KEY REFERENCES claim (id),
    since_ms BIGINT NOT NULL
);

-- Money that a chain shows for payments that had failed here. It is noted before it is credited, so
-- that verifying the books tells of it for as long as it is nobody's.
CREATE TABLE received_claim (
    claim BYTEA PRIMARY KEY REFERENCES claim (id),
    transaction_id TEXT NOT NULL,
    amount_nano BIGINT NOT NULL CHECK (0 < amount_nano),
    since_ms BIGINT NOT NULL
);

----- The audit trail -----------------------------------------------------------------------------

-- What operators did to money, one row for each command that moved any: written in the transaction
-- that did it, and never changed.
CREATE TABLE audit (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_ms BIGINT NOT NULL,
    actor TEXT NOT NULL CHECK (length(actor) BETWEEN 1 AND 128),
    action TEXT NOT NULL CHECK (length(action) BETWEEN 1 AND 64),
    subject TEXT NOT NULL,
    detail TEXT NOT NULL
);

CREATE TRIGGER audit_never_changes BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    EXECUTE FUNCTION refuse('the audit trail is only added to');

