//! Queries about claims of wallet payments.

use credits::EntryId;
use store::claim::{
    CLAIMS_MAX, Claim, ClaimCredit, ClaimCursor, ClaimId, ClaimSpan, ClaimState, CreditedSum,
    SentPayment,
};
use store::{ClaimStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Postgres;
use crate::columns::{
    bytes, get, limit, nano, nano_or_none, parsed, time, time_or_none, unsigned, unsigned_or_none,
};
use crate::error::PgError;
use crate::session::Session;

const COLUMNS: &str = "claim.id, network, asset, payer, nonce, pay_to, units, payment, state, \
     claim.transaction_id, raw, sequence, since_block, reason, credited_nano, entry, created_ms, \
     changed_ms, sent_ms, replaced";

impl ClaimStore for Postgres {
    fn claim(&self, id: ClaimId) -> StoreFuture<'_, Option<Claim>> {
        self.ask_soon(async move |db| claim(&db, id).await)
    }

    fn unfinished_claims(&self) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(async |db| unfinished(&db).await)
    }

    fn claims_changed(
        &self,
        span: ClaimSpan,
        beyond: Option<ClaimCursor>,
    ) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(async move |db| changed_within(&db, span, beyond).await)
    }

    fn list_claims(&self, state: Option<ClaimState>, limit: usize) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(async move |db| list(&db, state, limit).await)
    }

    fn received_claims(&self) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(async |db| noted(&db, "received_claim").await)
    }

    fn missing_claims(&self) -> StoreFuture<'_, Vec<Claim>> {
        self.ask(async |db| noted(&db, "missing_claim").await)
    }

    fn credited_claims(&self) -> StoreFuture<'_, Vec<CreditedSum>> {
        self.ask(async |db| credited(&db).await)
    }
}

async fn claim(db: &Session, id: ClaimId) -> Result<Option<Claim>, PgError> {
    let sql = format!("SELECT {COLUMNS} FROM claim WHERE id = $1");
    db.row(&sql, &[&id.0.as_slice()]).await?.map(|row| claim_at(&row)).transpose()
}

async fn unfinished(db: &Session) -> Result<Vec<Claim>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim WHERE state IN ('VERIFIED', 'SUBMITTED', 'UNKNOWN') \
         ORDER BY created_ms, id LIMIT $1"
    );
    db.rows(&sql, &[&limit(CLAIMS_MAX)]).await?.iter().map(claim_at).collect()
}

/// Claims ordered by their last step, after a cursor. The state is written into the SQL, because
/// each queried state has its own partial index.
async fn changed_within(
    db: &Session,
    span: ClaimSpan,
    beyond: Option<ClaimCursor>,
) -> Result<Vec<Claim>, PgError> {
    let state = span.state.name();
    let sql = format!(
        "SELECT {COLUMNS} FROM claim WHERE state = '{state}' AND changed_ms <= $1 \
         AND ($2, $3) < (changed_ms, id) ORDER BY changed_ms, id LIMIT $4"
    );
    // Without a cursor, starts after every claim of the time `after`.
    let last_of_all = ClaimCursor { changed: span.after, id: ClaimId([0xFF; 20]) };
    let ClaimCursor { changed, id } = beyond.unwrap_or(last_of_all);
    let (until, changed) = (span.until.ms(), changed.ms());
    let rows = db.rows(&sql, &[&until, &changed, &id.0.as_slice(), &limit(CLAIMS_MAX)]).await?;
    rows.iter().map(claim_at).collect()
}

/// Newest first.
async fn list(
    db: &Session,
    state: Option<ClaimState>,
    rows_max: usize,
) -> Result<Vec<Claim>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim WHERE $1::text IS NULL OR state = $1 \
         ORDER BY created_ms DESC, id LIMIT $2"
    );
    let state = state.map(ClaimState::name);
    let rows = db.rows(&sql, &[&state, &limit(rows_max.min(CLAIMS_MAX))]).await?;
    rows.iter().map(claim_at).collect()
}

/// Claims with a row in a table of notes, oldest note first.
async fn noted(db: &Session, table: &str) -> Result<Vec<Claim>, PgError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM claim JOIN {table} AS note ON claim.id = note.claim \
         ORDER BY since_ms, claim.id LIMIT $1"
    );
    db.rows(&sql, &[&limit(CLAIMS_MAX)]).await?.iter().map(claim_at).collect()
}

async fn credited(db: &Session) -> Result<Vec<CreditedSum>, PgError> {
    let sql = "SELECT network, count(*), sum(credited_nano)::int8 FROM claim \
               WHERE state = 'CREDITED' GROUP BY network ORDER BY network";
    let sum = |row| {
        Ok(CreditedSum { network: get(row, 0)?, claims: unsigned(row, 1)?, amount: nano(row, 2)? })
    };
    db.rows(sql, &[]).await?.iter().map(sum).collect()
}

fn words(row: &Row, column: usize) -> Result<Vec<String>, PgError> {
    let written: &str = get(row, column)?;
    Ok(written.split_whitespace().map(str::to_owned).collect())
}

fn claim_at(row: &Row) -> Result<Claim, PgError> {
    let entry: Option<Uuid> = get(row, 15)?;
    let credit = match (entry, nano_or_none(row, 14)?) {
        (Some(entry), Some(amount)) => Some(ClaimCredit { entry: EntryId(entry), amount }),
        _ => None,
    };
    Ok(Claim {
        id: ClaimId(bytes(row, 0)?),
        network: get(row, 1)?,
        asset: get(row, 2)?,
        payer: get(row, 3)?,
        nonce: bytes(row, 4)?,
        pay_to: get(row, 5)?,
        units: unsigned(row, 6)?,
        payment: get(row, 7)?,
        state: parsed(row, 8, ClaimState::parse)?,
        sent: SentPayment {
            transaction: get(row, 9)?,
            raw: get(row, 10)?,
            sequence: unsigned_or_none(row, 11)?,
            since_block: unsigned_or_none(row, 12)?,
            replaced: words(row, 19)?,
        },
        sent_at: time_or_none(row, 18)?,
        credit,
        reason: get(row, 13)?,
        created: time(row, 16)?,
        changed: time(row, 17)?,
    })
}
