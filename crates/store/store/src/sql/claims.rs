//! Claims of wallet payments.

use ledger_core::EntryId;
use moment::Timestamp;
use money::Nano;

use crate::claim::{
    CLAIMS_MAX, ClaimCredit, ClaimCursor, ClaimId, ClaimSpan, ClaimState, ClaimStep, CreditedSum,
    PaymentClaim, ReceivedPayment, SentPayment,
};
use crate::error::StoreError;
use crate::sql::connection::RowResult;
use crate::sql::text::shared_sql;
use crate::sql::value::sql_values;
use crate::sql::{ReadMode, SqlPosting, SqlRow, SqlStore, SqlText, to_signed};
use crate::{ClaimStore, StoreFuture};

const COLUMNS: SqlText = SqlText::same(
    "claim.id, network, asset, payer, nonce, pay_to, units, payment, state, claim.transaction_id, \
     raw, sequence, since_block, reason, credited_nano, entry, created_ms, changed_ms, sent_ms, \
     replaced",
);

const READ: SqlText = shared_sql!("SELECT ", COLUMNS, " FROM claim WHERE id = $1");

const READ_UNFINISHED: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM claim WHERE state IN ('VERIFIED', 'SUBMITTED', 'UNKNOWN') \
     ORDER BY created_ms, id LIMIT $1"
);

/// Claims ordered by their last step, after a cursor. The state is written into the text, because
/// each queried state has its own partial index.
macro_rules! read_changed {
    ($state:literal) => {
        shared_sql!(
            "SELECT ",
            COLUMNS,
            " FROM claim WHERE state = '",
            $state,
            "' AND changed_ms <= $1 AND ($2, $3) < (changed_ms, id) \
             ORDER BY changed_ms, id LIMIT $4"
        )
    };
}

/// Newest first.
const LIST: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM claim WHERE $1::text IS NULL OR state = $1 ORDER BY created_ms DESC, id LIMIT $2"
);

/// Oldest note first.
const READ_RECEIVED: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM claim JOIN received_claim AS note ON claim.id = note.claim \
     ORDER BY since_ms, claim.id LIMIT $1"
);

const READ_MISSING: SqlText = shared_sql!(
    "SELECT ",
    COLUMNS,
    " FROM claim JOIN missing_claim AS note ON claim.id = note.claim \
     ORDER BY since_ms, claim.id LIMIT $1"
);

const SUM_CREDITED: SqlText = shared_sql!(
    "SELECT network, count(*), sum(credited_nano)::bigint FROM claim \
     WHERE state = 'CREDITED' GROUP BY network ORDER BY network"
);

/// Adds a claim, or reopens one that failed. In any other state it is a duplicate.
const OPEN: SqlText = shared_sql!(
    "INSERT INTO claim (id, network, asset, payer, nonce, pay_to, units, payment, state, \
     created_ms, changed_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'VERIFIED', $9, $9) \
     ON CONFLICT (id) DO UPDATE SET pay_to = excluded.pay_to, units = excluded.units, \
     payment = excluded.payment, state = 'VERIFIED', transaction_id = NULL, raw = NULL, \
     sequence = NULL, since_block = NULL, reason = NULL, sent_ms = NULL, replaced = '', \
     created_ms = excluded.created_ms, changed_ms = excluded.changed_ms \
     WHERE claim.state = 'FAILED'"
);

const SUBMIT: SqlText = shared_sql!(
    "UPDATE claim SET state = 'SUBMITTED', transaction_id = $4, raw = $5, sequence = $6, \
     since_block = $7, sent_ms = $2, changed_ms = $2 WHERE id = $1 AND state = $3"
);

const REPLACE: SqlText = shared_sql!(
    "UPDATE claim SET transaction_id = $4, raw = $5, replaced = $6, sent_ms = $2, changed_ms = $2 \
     WHERE id = $1 AND state = $3 AND sequence = $7"
);

const LOSE_SIGHT: SqlText = shared_sql!(
    "UPDATE claim SET state = 'UNKNOWN', transaction_id = coalesce($4, transaction_id), \
     changed_ms = $2 WHERE id = $1 AND state = $3"
);

const CREDIT: SqlText = shared_sql!(
    "UPDATE claim SET state = 'CREDITED', transaction_id = $4, entry = $5, credited_nano = $6, \
     reason = NULL, changed_ms = $2 WHERE id = $1 AND state = $3"
);

const FAIL: SqlText = shared_sql!(
    "UPDATE claim SET state = 'FAILED', reason = $4, changed_ms = $2 \
     WHERE id = $1 AND state = $3"
);

const NOTE_RECEIVED: SqlText = shared_sql!(
    "INSERT INTO received_claim (claim, transaction_id, amount_nano, since_ms) \
     SELECT id, $2, $3, $4 FROM claim WHERE id = $1 AND state = 'FAILED' \
     ON CONFLICT (claim) DO NOTHING"
);

const DROP_RECEIVED: SqlText = shared_sql!("DELETE FROM received_claim WHERE claim = $1");

const NOTE_MISSING: SqlText = shared_sql!(
    "INSERT INTO missing_claim (claim, since_ms) \
     SELECT id, $2 FROM claim WHERE id = $1 AND state = 'CREDITED' ON CONFLICT (claim) DO NOTHING"
);

const NOTE_FOUND: SqlText = shared_sql!("DELETE FROM missing_claim WHERE claim = $1");

const DROP_FAILED: SqlText = shared_sql!(
    "DELETE FROM claim WHERE id IN (SELECT id FROM claim \
     WHERE state = 'FAILED' AND changed_ms < $1 \
     AND NOT EXISTS (SELECT 1 FROM received_claim WHERE received_claim.claim = claim.id) \
     ORDER BY changed_ms LIMIT $2)"
);

impl<S: SqlStore> ClaimStore for S {
    fn claim(&self, id: ClaimId) -> StoreFuture<'_, Option<PaymentClaim>> {
        self.read_row(ReadMode::LOOKUP, READ, sql_values![id], claim_at)
    }

    fn unfinished_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.read_rows(ReadMode::STATEMENT, READ_UNFINISHED, sql_values![CLAIMS_MAX], claim_at)
    }

    fn claims_changed(
        &self,
        span: ClaimSpan,
        beyond: Option<ClaimCursor>,
    ) -> StoreFuture<'_, Vec<PaymentClaim>> {
        let sql = match span.state {
            ClaimState::Verified => read_changed!("VERIFIED"),
            ClaimState::Submitted => read_changed!("SUBMITTED"),
            ClaimState::Unknown => read_changed!("UNKNOWN"),
            ClaimState::Credited => read_changed!("CREDITED"),
            ClaimState::Failed => read_changed!("FAILED"),
        };
        // Without a cursor, starts after every claim of the time `after`.
        let last_of_all = ClaimCursor { changed: span.after, id: ClaimId([0xFF; 20]) };
        let ClaimCursor { changed, id } = beyond.unwrap_or(last_of_all);
        let values = sql_values![span.until, changed, id, CLAIMS_MAX];
        self.read_rows(ReadMode::STATEMENT, sql, values, claim_at)
    }

    fn list_claims(
        &self,
        state: Option<ClaimState>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<PaymentClaim>> {
        let values = sql_values![state.map(ClaimState::name), limit.min(CLAIMS_MAX)];
        self.read_rows(ReadMode::STATEMENT, LIST, values, claim_at)
    }

    fn received_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.read_rows(ReadMode::STATEMENT, READ_RECEIVED, sql_values![CLAIMS_MAX], claim_at)
    }

    fn missing_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.read_rows(ReadMode::STATEMENT, READ_MISSING, sql_values![CLAIMS_MAX], claim_at)
    }

    fn credited_claims(&self) -> StoreFuture<'_, Vec<CreditedSum>> {
        self.read_rows(ReadMode::STATEMENT, SUM_CREDITED, [], |row| {
            Ok(CreditedSum { network: row.get(0)?, claims: row.get(1)?, amount: row.get(2)? })
        })
    }
}

pub(crate) fn open_claim<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    claim: &'a PaymentClaim,
) -> Result<(), P::Error> {
    let values = sql_values![
        claim.id,
        &claim.network,
        &claim.asset,
        &claim.payer,
        &claim.nonce,
        &claim.pay_to,
        to_signed(claim.units)?,
        &claim.payment,
        claim.created,
    ];
    let claimed = StoreError::Duplicate("this payment is claimed".to_owned());
    posting.run_one(OPEN, values, claimed)
}

/// A step from the state in which the caller read the claim.
pub(crate) struct TakenStep<'a> {
    pub(crate) claim: ClaimId,
    pub(crate) from: ClaimState,
    pub(crate) step: &'a ClaimStep,
    pub(crate) at: Timestamp,
}

/// Takes a step. One from an outdated state is refused: a claim that was sent since is not failed
/// by a task that read it before.
pub(crate) fn advance_claim<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    TakenStep { claim, from, step, at }: TakenStep<'a>,
) -> Result<(), P::Error> {
    let refused = StoreError::Missing("no such payment waits for this step");
    if !step.is_allowed_from(from) {
        return Err(refused.into());
    }
    let from = from.name();
    match step {
        ClaimStep::Submit(sent) => {
            let SentPayment { transaction, raw, sequence, since_block, replaced: _ } = sent;
            let sequence = sequence.map(to_signed).transpose()?;
            let since_block = since_block.map(to_signed).transpose()?;
            let (transaction, raw) = (transaction.as_ref(), raw.as_ref());
            let values = sql_values![claim, at, from, transaction, raw, sequence, since_block];
            posting.run_one(SUBMIT, values, refused)
        }
        ClaimStep::Replace(sent) => {
            let sequence = sent.sequence.map(to_signed).transpose()?;
            let (transaction, raw) = (sent.transaction.as_ref(), sent.raw.as_ref());
            let replaced = sent.replaced.join(" ");
            let values = sql_values![claim, at, from, transaction, raw, replaced, sequence];
            posting.run_one(REPLACE, values, refused)
        }
        ClaimStep::LoseSight { transaction } => {
            let values = sql_values![claim, at, from, transaction.as_ref()];
            posting.run_one(LOSE_SIGHT, values, refused)
        }
        ClaimStep::Credit { transaction, credit } => {
            drop_received(posting, claim)?;
            let ClaimCredit { entry, amount } = *credit;
            let values = sql_values![claim, at, from, transaction, entry, amount];
            posting.run_one(CREDIT, values, refused)
        }
        ClaimStep::Fail { reason } => {
            posting.run_one(FAIL, sql_values![claim, at, from, reason], refused)
        }
    }
}

pub(crate) fn note_received<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    claim: ClaimId,
    received: &'a ReceivedPayment,
    at: Timestamp,
) -> Result<(), P::Error> {
    let ReceivedPayment { transaction, amount } = received;
    posting.run(NOTE_RECEIVED, sql_values![claim, transaction, *amount, at])
}

pub(crate) fn drop_received<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    claim: ClaimId,
) -> Result<(), P::Error> {
    posting.run(DROP_RECEIVED, sql_values![claim])
}

pub(crate) fn note_missing<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    claim: ClaimId,
    at: Timestamp,
) -> Result<(), P::Error> {
    posting.run(NOTE_MISSING, sql_values![claim, at])
}

pub(crate) fn note_found<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    claim: ClaimId,
) -> Result<(), P::Error> {
    posting.run(NOTE_FOUND, sql_values![claim])
}

pub(crate) fn drop_failed<'a, P: SqlPosting<'a>>(
    posting: &mut P,
    before: Timestamp,
    rows_max: usize,
) -> Result<(), P::Error> {
    posting.run(DROP_FAILED, sql_values![before, rows_max])
}

fn claim_at(row: &dyn SqlRow) -> RowResult<PaymentClaim> {
    let (entry, amount): (Option<EntryId>, Option<Nano>) = (row.get(15)?, row.get(14)?);
    let replaced: String = row.get(19)?;
    Ok(PaymentClaim {
        id: row.get(0)?,
        network: row.get(1)?,
        asset: row.get(2)?,
        payer: row.get(3)?,
        nonce: row.get(4)?,
        pay_to: row.get(5)?,
        units: row.get(6)?,
        payment: row.get(7)?,
        state: row.parse(8, ClaimState::parse)?,
        sent: SentPayment {
            transaction: row.get(9)?,
            raw: row.get(10)?,
            sequence: row.get(11)?,
            since_block: row.get(12)?,
            replaced: replaced.split_whitespace().map(str::to_owned).collect(),
        },
        sent_at: row.get(18)?,
        credit: entry.zip(amount).map(|(entry, amount)| ClaimCredit { entry, amount }),
        reason: row.get(13)?,
        created: row.get(16)?,
        changed: row.get(17)?,
    })
}
