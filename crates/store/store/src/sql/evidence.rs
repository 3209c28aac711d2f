//! The stored sums that verification compares with the journal.

use ledger_core::{KeyTerms, LimitPeriod};
use money::BalanceCurrency;

use crate::audit::AuditRow;
use crate::error::StoreError;
use crate::evidence::{
    AllowanceSet, CreditedClaim, LimitedKey, MissingClaim, ReceivedClaim, USAGE_MARKS_MAX,
    UsageMark, UsagePart, UsageSum, VerificationEvidence,
};
use crate::names::parse_allowance;
use crate::sql::audit::rows_after;
use crate::sql::books::trial_balance;
use crate::sql::connection::{PagedSequence, RowResult, SequencePage, SequencedTable};
use crate::sql::text::shared_sql;
use crate::sql::usage::{COLUMNS, pruned_before_day, usage_at};
use crate::sql::{ReadMode, SqlConnection, SqlRow, SqlStore, SqlText};
use crate::{EvidenceStore, StoreFuture};

const LAST_USAGE: SqlText = SqlText::same("SELECT coalesce(max(seq), 0) FROM usage");

const SUM_BY_OWNER: SqlText = shared_sql!(
    "SELECT owner, currency, sum(amount)::bigint FROM usage_daily \
     GROUP BY owner, currency ORDER BY owner, currency"
);

const SUM_BY_DAY: SqlText = shared_sql!(
    "SELECT day, currency, sum(amount)::bigint FROM usage_daily \
     GROUP BY day, currency ORDER BY day, currency"
);

const ALLOWANCES: SqlText =
    SqlText::same("SELECT owner, kind, amount FROM allowance_change ORDER BY at_ms, entry");

const LIMITED_KEYS: SqlText = SqlText::same(
    "SELECT id, limit_usd, limit_diem, limit_period, created_ms, limits_since_ms \
     FROM api_key WHERE limit_usd IS NOT NULL OR limit_diem IS NOT NULL ORDER BY id",
);

const CREDITED: SqlText = SqlText::same(
    "SELECT network, entry, credited_nano FROM claim WHERE state = 'CREDITED' ORDER BY id",
);

const MISSING: SqlText = SqlText::same(
    "SELECT network, transaction_id, entry, credited_nano, since_ms FROM claim \
     JOIN missing_claim ON claim.id = missing_claim.claim ORDER BY since_ms, id",
);

const RECEIVED: SqlText = SqlText::same(
    "SELECT claim.id, network, received_claim.transaction_id, amount_nano, since_ms \
     FROM claim JOIN received_claim ON claim.id = received_claim.claim ORDER BY since_ms, id",
);

const MARKS: PagedSequence<UsageMark> = PagedSequence {
    table: SequencedTable::Usage,
    sql: shared_sql!(
        "SELECT ",
        COLUMNS,
        ", digest FROM usage WHERE $1 < seq ORDER BY seq LIMIT $2"
    ),
    read: mark_at,
    seq: |mark| mark.seq,
};

/// The place of the digest after [`COLUMNS`].
const DIGEST: usize = 19;

impl<S: SqlStore> EvidenceStore for S {
    fn read_evidence(&self) -> StoreFuture<'_, VerificationEvidence> {
        self.read(ReadMode::SETTLED.with_charges(), |db| Box::pin(read_evidence(db)))
    }

    fn audit_after(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<AuditRow>> {
        self.read(ReadMode::SETTLED, move |db| Box::pin(rows_after(db, after_seq, limit)))
    }

    fn usage_marks(&self, after_seq: i64, limit: usize) -> StoreFuture<'_, Vec<UsageMark>> {
        self.read_sequence(MARKS, SequencePage { after_seq, limit: limit.min(USAGE_MARKS_MAX) })
    }
}

async fn read_evidence(db: &dyn SqlConnection) -> Result<VerificationEvidence, StoreError> {
    Ok(VerificationEvidence {
        books: trial_balance(db).await?,
        usage_last_seq: db.single_row(LAST_USAGE, &[], |row| row.get(0)).await?,
        usage_from_day: pruned_before_day(db).await?.unwrap_or(i64::MIN),
        usage_sums: read_usage_sums(db).await?,
        allowances: db.rows(ALLOWANCES, &[], allowance_at).await?,
        limited_keys: db.rows(LIMITED_KEYS, &[], limited_key_at).await?,
        credited: db.rows(CREDITED, &[], credited_at).await?,
        missing: db.rows(MISSING, &[], missing_at).await?,
        received: db.rows(RECEIVED, &[], received_at).await?,
        miscounts: db.find_miscounts().await?,
        faults: db.find_faults().await?,
    })
}

async fn read_usage_sums(db: &dyn SqlConnection) -> Result<Vec<UsageSum>, StoreError> {
    let by_owner = db.rows(SUM_BY_OWNER, &[], |row| sum_at(row, UsagePart::Owner(row.get(0)?)));
    let mut sums = by_owner.await?;
    let by_day = db.rows(SUM_BY_DAY, &[], |row| sum_at(row, UsagePart::Day(row.get(0)?)));
    sums.extend(by_day.await?);
    Ok(sums)
}

fn sum_at(row: &dyn SqlRow, part: UsagePart) -> RowResult<UsageSum> {
    let currency = row.parse(1, BalanceCurrency::from_name)?;
    Ok(UsageSum { part, currency, amount: row.get(2)? })
}

fn mark_at(row: &dyn SqlRow) -> RowResult<UsageMark> {
    Ok(UsageMark::of_row(row.get(0)?, &usage_at(row)?, row.get(DIGEST)?))
}

fn allowance_at(row: &dyn SqlRow) -> RowResult<AllowanceSet> {
    let kind = row.parse(1, parse_allowance)?;
    Ok(AllowanceSet { owner: row.get(0)?, kind, amount: row.get(2)? })
}

fn limited_key_at(row: &dyn SqlRow) -> RowResult<LimitedKey> {
    let terms = KeyTerms {
        key: row.get(0)?,
        limit_usd: row.get(1)?,
        limit_diem: row.get(2)?,
        period: row.parse(3, LimitPeriod::from_name)?,
    };
    Ok(LimitedKey { terms, created: row.get(4)?, since: row.get(5)? })
}

fn credited_at(row: &dyn SqlRow) -> RowResult<CreditedClaim> {
    Ok(CreditedClaim { network: row.get(0)?, entry: row.get(1)?, amount: row.get(2)? })
}

fn missing_at(row: &dyn SqlRow) -> RowResult<MissingClaim> {
    Ok(MissingClaim {
        network: row.get(0)?,
        transaction: row.get(1)?,
        entry: row.get(2)?,
        amount: row.get(3)?,
        since: row.get(4)?,
    })
}

fn received_at(row: &dyn SqlRow) -> RowResult<ReceivedClaim> {
    Ok(ReceivedClaim {
        claim: row.get(0)?,
        network: row.get(1)?,
        transaction: row.get(2)?,
        amount: row.get(3)?,
        since: row.get(4)?,
    })
}
