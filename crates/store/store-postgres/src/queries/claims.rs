//! Queries about claims of wallet payments.

use ledger_core::EntryId;
use store::claim::{
    CLAIMS_MAX, ClaimCredit, ClaimCursor, ClaimId, ClaimSpan, ClaimState, CreditedSum,
    PaymentClaim, SentPayment,
};
use store::{ClaimStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_bytes, read_column, read_nano, read_optional_nano, read_optional_time,
    read_optional_unsigned, read_parsed, read_time, read_unsigned, to_row_limit,
};
use crate::error::PgError;
use crate::session::PostgresSession;

const COLUMNS: &str = "claim.id, network, asset, payer, nonce, pay_to, units, payment, state, \
     claim.transaction_id, raw, sequence, since_block, reason, credited_nano, entry, created_ms, \
     changed_ms, sent_ms, replaced";

impl ClaimStore for PostgresStore {
    fn claim(&self, id: ClaimId) -> StoreFuture<'_, Option<PaymentClaim>> {
        self.query_with_timeout(async move |db| read_claim(&db, id).await)
    }

    fn unfinished_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(async |db| read_unfinished(&db).await)
    }

    fn claims_changed(
        &self,
        span: ClaimSpan,
        beyond: Option<ClaimCursor>,
    ) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(async move |db| changed_within(&db, span, beyond).await)
    }

    fn list_claims(
        &self,
        state: Option<ClaimState>,
        limit: usize,
    ) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(async move |db| list_claims(&db, state, limit).await)
    }

    fn received_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(async |db| read_noted(&db, "received_claim").await)
    }

    fn missing_claims(&self) -> StoreFuture<'_, Vec<PaymentClaim>> {
        self.query(async |db| read_noted(&db, "missing_claim").await)
    }

    fn credited_claims(&self) -> StoreFuture<'_, Vec<CreditedSum>> {
        self.query(async |db| sum_credited(&db).await)
    }
}

async fn read_claim(db: &PostgresSession, id: ClaimId) -> Result<Option<PaymentClaim>, PgError> {
    let sql = format!("SELECT {COLUMNS} FROM claim WHERE id = $1");
    db.row(&sql, &[&id.0.as_slice()]).await?.map(|row| claim_at(&row)).transpose()
}

async fn read_unfinished(db: &PostgresSession) -> Result<Vec<PaymentClaim>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim WHERE state IN ('VERIFIED', 'SUBMITTED', 'UNKNOWN') \
         ORDER BY created_ms, id LIMIT $1"
    );
    db.rows(&sql, &[&to_row_limit(CLAIMS_MAX)]).await?.iter().map(claim_at).collect()
}

/// Claims ordered by their last step, after a cursor. The state is written into the SQL, because
/// each queried state has its own partial index.
async fn changed_within(
    db: &PostgresSession,
    span: ClaimSpan,
    beyond: Option<ClaimCursor>,
) -> Result<Vec<PaymentClaim>, PgError> {
    let state = span.state.name();
    let sql = format!(
        "SELECT {COLUMNS} FROM claim WHERE state = '{state}' AND changed_ms <= $1 \
         AND ($2, $3) < (changed_ms, id) ORDER BY changed_ms, id LIMIT $4"
    );
    // Without a cursor, starts after every claim of the time `after`.
    let last_of_all = ClaimCursor { changed: span.after, id: ClaimId([0xFF; 20]) };
    let ClaimCursor { changed, id } = beyond.unwrap_or(last_of_all);
    let (until, changed) = (span.until.ms(), changed.ms());
    let rows =
        db.rows(&sql, &[&until, &changed, &id.0.as_slice(), &to_row_limit(CLAIMS_MAX)]).await?;
    rows.iter().map(claim_at).collect()
}

/// Newest first.
async fn list_claims(
    db: &PostgresSession,
    state: Option<ClaimState>,
    rows_max: usize,
) -> Result<Vec<PaymentClaim>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim WHERE $1::text IS NULL OR state = $1 \
         ORDER BY created_ms DESC, id LIMIT $2"
    );
    let state = state.map(ClaimState::name);
    let rows = db.rows(&sql, &[&state, &to_row_limit(rows_max.min(CLAIMS_MAX))]).await?;
    rows.iter().map(claim_at).collect()
}

/// Claims with a row in a table of notes, oldest note first.
async fn read_noted(db: &PostgresSession, table: &str) -> Result<Vec<PaymentClaim>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim JOIN {table} AS note ON claim.id = note.claim \
         ORDER BY since_ms, claim.id LIMIT $1"
    );
    db.rows(&sql, &[&to_row_limit(CLAIMS_MAX)]).await?.iter().map(claim_at).collect()
}

async fn sum_credited(db: &PostgresSession) -> Result<Vec<CreditedSum>, PgError> {
    let sql = "SELECT network, count(*), sum(credited_nano)::int8 FROM claim \
               WHERE state = 'CREDITED' GROUP BY network ORDER BY network";
    let sum = |row| {
        Ok(CreditedSum {
            network: read_column(row, 0)?,
            claims: read_unsigned(row, 1)?,
            amount: read_nano(row, 2)?,
        })
    };
    db.rows(sql, &[]).await?.iter().map(sum).collect()
}

fn read_words(row: &Row, column: usize) -> Result<Vec<String>, PgError> {
    let written: &str = read_column(row, column)?;
    Ok(written.split_whitespace().map(str::to_owned).collect())
}

fn claim_at(row: &Row) -> Result<PaymentClaim, PgError> {
    let entry: Option<Uuid> = read_column(row, 15)?;
    let credit = match (entry, read_optional_nano(row, 14)?) {
        (Some(entry), Some(amount)) => Some(ClaimCredit { entry: EntryId(entry), amount }),
        _ => None,
    };
    Ok(PaymentClaim {
        id: ClaimId(read_bytes(row, 0)?),
        network: read_column(row, 1)?,
        asset: read_column(row, 2)?,
        payer: read_column(row, 3)?,
        nonce: read_bytes(row, 4)?,
        pay_to: read_column(row, 5)?,
        units: read_unsigned(row, 6)?,
        payment: read_column(row, 7)?,
        state: read_parsed(row, 8, ClaimState::parse)?,
        sent: SentPayment {
            transaction: read_column(row, 9)?,
            raw: read_column(row, 10)?,
            sequence: read_optional_unsigned(row, 11)?,
            since_block: read_optional_unsigned(row, 12)?,
            replaced: read_words(row, 19)?,
        },
        sent_at: read_optional_time(row, 18)?,
        credit,
        reason: read_column(row, 13)?,
        created: read_time(row, 16)?,
        changed: read_time(row, 17)?,
    })
}
