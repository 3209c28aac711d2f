//! The stored sums that verification compares with the journal.

use ledger_core::{EntryId, KeyId, KeyTerms, LimitPeriod, OwnerId};
use money::BalanceCurrency;
use store::audit::AuditRow;
use store::claim::ClaimId;
use store::evidence::{
    AllowanceSet, AuditCount, CreditedClaim, FAULTS_MAX, LimitedKey, MissingClaim, ReceivedClaim,
    USAGE_MARKS_MAX, UsageMark, UsagePart, UsageSum, VerificationEvidence,
};
use store::names::parse_allowance;
use store::sql::{ReadMode, SqlStore, audit};
use store::{EvidenceStore, StoreFuture};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::PostgresStore;
use crate::columns::{
    read_bytes, read_column, read_nano, read_optional_nano, read_parsed, read_time, to_row_limit,
};
use crate::error::PgError;
use crate::queries::ledger::trial_balance;
use crate::queries::usage::{COLUMNS, pruned_before_day, usage_at};
use crate::queries::usage_recount::find_miscounts;
use crate::session::PostgresSession;

impl EvidenceStore for PostgresStore {
    fn read_evidence(&self) -> StoreFuture<'_, VerificationEvidence> {
        self.query_settled(async |db| read_evidence(&db).await)
    }

    fn audit_after(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<AuditRow>> {
        self.read(ReadMode::SETTLED, move |db| {
            Box::pin(async move { audit::rows_after(db, after_seq, limit).await })
        })
    }

    fn usage_marks(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<UsageMark>> {
        let full = limit.min(USAGE_MARKS_MAX);
        Box::pin(async move {
            let page = self.query(async move |db| usage_marks(&db, after_seq, limit).await).await?;
            let last = page.last().map_or(0, |mark| mark.seq);
            if page.len() == full && self.settled_usage.covers(last) {
                return Ok(page);
            }
            let page = self
                .query_settled(async move |db| usage_marks(&db, after_seq, limit).await)
                .await?;
            self.settled_usage.raise_to(page.last().map_or(0, |mark| mark.seq));
            Ok(page)
        })
    }
}

async fn read_evidence(db: &PostgresSession) -> Result<VerificationEvidence, PgError> {
    let last_seq = db.single_row("SELECT coalesce(max(seq), 0) FROM usage", &[]).await?;
    Ok(VerificationEvidence {
        books: trial_balance(db).await?,
        usage_last_seq: read_column(&last_seq, 0)?,
        usage_from_day: pruned_before_day(db).await?.unwrap_or(i64::MIN),
        usage_sums: usage_sums(db).await?,
        allowances: read_set_allowances(db).await?,
        limited_keys: limited_keys(db).await?,
        credited: read_credited(db).await?,
        missing: read_missing(db).await?,
        received: read_received(db).await?,
        miscounts: find_miscounts(db).await?,
        faults: find_faults(db).await?,
    })
}

/// The place of the digest after [`COLUMNS`].
const DIGEST: usize = 19;

async fn usage_marks(
    db: &PostgresSession,
    after_seq: i64,
    rows_max: usize,
) -> Result<Vec<UsageMark>, PgError> {
    let sql = format!("SELECT {COLUMNS}, digest FROM usage WHERE $1 < seq ORDER BY seq LIMIT $2");
    let rows = db.rows(&sql, &[&after_seq, &to_row_limit(rows_max.min(USAGE_MARKS_MAX))]).await?;
    let mark = |row| {
        Ok(UsageMark::of_row(read_column(row, 0)?, &usage_at(row)?, read_column(row, DIGEST)?))
    };
    rows.iter().map(mark).collect()
}

async fn usage_sums(db: &PostgresSession) -> Result<Vec<UsageSum>, PgError> {
    let sum = |row: &Row, part| -> Result<UsageSum, PgError> {
        Ok(UsageSum {
            part,
            currency: read_parsed(row, 1, BalanceCurrency::from_name)?,
            amount: read_nano(row, 2)?,
        })
    };
    let by_owner = "SELECT owner, currency, sum(amount)::int8 FROM usage_daily \
                    GROUP BY owner, currency ORDER BY owner, currency";
    let by_day = "SELECT day, currency, sum(amount)::int8 FROM usage_daily \
                  GROUP BY day, currency ORDER BY day, currency";
    let mut sums = Vec::new();
    for row in db.rows(by_owner, &[]).await? {
        sums.push(sum(&row, UsagePart::Owner(OwnerId(read_column(&row, 0)?)))?);
    }
    for row in db.rows(by_day, &[]).await? {
        sums.push(sum(&row, UsagePart::Day(read_column(&row, 0)?))?);
    }
    Ok(sums)
}

async fn read_set_allowances(db: &PostgresSession) -> Result<Vec<AllowanceSet>, PgError> {
    let sql = "SELECT owner, kind, amount FROM allowance_change ORDER BY at_ms, entry";
    let set = |row| {
        let (owner, kind) = (OwnerId(read_column(row, 0)?), read_parsed(row, 1, parse_allowance)?);
        Ok(AllowanceSet { owner, kind, amount: read_nano(row, 2)? })
    };
    db.rows(sql, &[]).await?.iter().map(set).collect()
}

async fn limited_keys(db: &PostgresSession) -> Result<Vec<LimitedKey>, PgError> {
    let sql = "SELECT id, limit_usd, limit_diem, limit_period, created_ms, limits_since_ms \
               FROM api_key WHERE limit_usd IS NOT NULL OR limit_diem IS NOT NULL ORDER BY id";
    let limited = |row| {
        let terms = KeyTerms {
            key: KeyId(read_column(row, 0)?),
            limit_usd: read_optional_nano(row, 1)?,
            limit_diem: read_optional_nano(row, 2)?,
            period: read_parsed(row, 3, LimitPeriod::from_name)?,
        };
        Ok(LimitedKey { terms, created: read_time(row, 4)?, since: read_time(row, 5)? })
    };
    db.rows(sql, &[]).await?.iter().map(limited).collect()
}

async fn read_credited(db: &PostgresSession) -> Result<Vec<CreditedClaim>, PgError> {
    let sql = "SELECT network, entry, credited_nano FROM claim WHERE state = 'CREDITED' \
               ORDER BY id";
    let claim = |row| {
        let (network, entry) = (read_column(row, 0)?, EntryId(read_column(row, 1)?));
        Ok(CreditedClaim { network, entry, amount: read_nano(row, 2)? })
    };
    db.rows(sql, &[]).await?.iter().map(claim).collect()
}

async fn read_missing(db: &PostgresSession) -> Result<Vec<MissingClaim>, PgError> {
    let sql = "SELECT network, transaction_id, entry, credited_nano, since_ms FROM claim \
               JOIN missing_claim ON claim.id = missing_claim.claim ORDER BY since_ms, id";
    let claim = |row| {
        Ok(MissingClaim {
            network: read_column(row, 0)?,
            transaction: read_column(row, 1)?,
            entry: EntryId(read_column(row, 2)?),
            amount: read_nano(row, 3)?,
            since: read_time(row, 4)?,
        })
    };
    db.rows(sql, &[]).await?.iter().map(claim).collect()
}

async fn read_received(db: &PostgresSession) -> Result<Vec<ReceivedClaim>, PgError> {
    let sql = "SELECT claim.id, network, received_claim.transaction_id, amount_nano, since_ms \
               FROM claim JOIN received_claim ON claim.id = received_claim.claim \
               ORDER BY since_ms, id";
    let claim = |row| {
        Ok(ReceivedClaim {
            claim: ClaimId(read_bytes(row, 0)?),
            network: read_column(row, 1)?,
            transaction: read_column(row, 2)?,
            amount: read_nano(row, 3)?,
            since: read_time(row, 4)?,
        })
    };
    db.rows(sql, &[]).await?.iter().map(claim).collect()
}

/// Finds triggers and constraints that were disabled, and rows that they should have refused. The
/// database enforces everything else itself.
async fn find_faults(db: &PostgresSession) -> Result<Vec<String>, PgError> {
    let mut faults = Vec::new();
    for trigger in TRIGGERS {
        let sql = "SELECT EXISTS (SELECT 1 FROM pg_trigger WHERE tgname = $1::text \
                   AND tgenabled = 'O' AND tgrelid IN (SELECT oid FROM pg_class \
                   WHERE relnamespace = (SELECT oid FROM pg_namespace \
                   WHERE nspname = current_schema())))";
        if !read_column::<bool>(&db.single_row(sql, &[trigger]).await?, 0)? {
            faults.push(format!("the trigger {trigger} is missing or switched off"));
        }
    }
    let unchecked = "SELECT conname::text, conrelid::regclass::text FROM pg_constraint \
                     WHERE NOT convalidated AND connamespace = (SELECT oid FROM pg_namespace \
                     WHERE nspname = current_schema()) ORDER BY 1 LIMIT $1";
    for row in db.rows(unchecked, &[&to_row_limit(FAULTS_MAX)]).await? {
        let (constraint, table): (String, String) = (read_column(&row, 0)?, read_column(&row, 1)?);
        faults.push(format!("the constraint {constraint} of {table} was never checked"));
    }
    let broken = "SELECT indexrelid::regclass::text FROM pg_index JOIN pg_class \
                  ON pg_class.oid = indrelid WHERE NOT (indisvalid AND indisready) \
                  AND relnamespace = (SELECT oid FROM pg_namespace \
                  WHERE nspname = current_schema()) ORDER BY 1 LIMIT $1";
    for row in db.rows(broken, &[&to_row_limit(FAULTS_MAX)]).await? {
        let index: String = read_column(&row, 0)?;
        faults.push(format!("the index {index} is not usable"));
    }
    let counted = "SELECT count(*), (SELECT rows FROM audit_count) FROM audit";
    let row = db.single_row(counted, &[]).await?;
    let count = AuditCount { rows: read_column(&row, 0)?, written: read_column(&row, 1)? };
    if count.rows != count.written {
        faults.push(count.to_string());
    }
    let repeated = "SELECT entry, leg, count(*) FROM transfer \
                    GROUP BY entry, leg HAVING 1 < count(*) LIMIT $1";
    for row in db.rows(repeated, &[&to_row_limit(FAULTS_MAX)]).await? {
        let (entry, leg, times): (Uuid, i32, i64) =
            (read_column(&row, 0)?, read_column(&row, 1)?, read_column(&row, 2)?);
        let entry = entry.simple();
        faults.push(format!("entry {entry} leg {leg} is in the journal {times} times"));
    }
    Ok(faults)
}

/// The triggers that protect rows from changes, and those that count.
const TRIGGERS: &[&str] = &[
    "transfer_never_changes",
    "audit_never_changes",
    "audit_counted",
    "claim_credited_never_changes",
    "claim_never_goes",
    "job_ends_once",
    "idempotency_counted",
    "character_review_counted",
    "character_use_counted",
];
