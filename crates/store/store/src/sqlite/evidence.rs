//! Reads the stored sums that verification compares with the journal, and runs SQLite's own checks.

use ledger_core::{EntryId, KeyId, KeyTerms, LimitPeriod, OwnerId};
use money::BalanceCurrency;
use rusqlite::{Connection, Row, params};

use crate::claim::ClaimId;
use crate::evidence::{
    AllowanceSet, AuditCount, CreditedClaim, FAULTS_MAX, LimitedKey, MissingClaim, ReceivedClaim,
    USAGE_MARKS_MAX, UsageMark, UsagePart, UsageSum, VerificationEvidence,
};
use crate::names::parse_allowance;
use crate::sqlite::columns::{read_id, read_nano, read_optional_nano, read_parsed, read_time};
use crate::sqlite::load::trial_balance;
use crate::sqlite::recount::find_miscounts;
use crate::sqlite::schema;
use crate::sqlite::usage::{COLUMNS, pruned_before_day, usage_at};

pub(crate) fn read_evidence(connection: &Connection) -> rusqlite::Result<VerificationEvidence> {
    let last_seq = "SELECT coalesce(max(seq), 0) FROM usage";
    Ok(VerificationEvidence {
        books: trial_balance(connection)?,
        usage_last_seq: connection.query_row(last_seq, [], |row| row.get(0))?,
        usage_from_day: pruned_before_day(connection)?.unwrap_or(i64::MIN),
        usage_sums: usage_sums(connection)?,
        allowances: read_set_allowances(connection)?,
        limited_keys: limited_keys(connection)?,
        credited: read_credited(connection)?,
        missing: read_missing(connection)?,
        received: read_received(connection)?,
        miscounts: find_miscounts(connection)?,
        faults: find_faults(connection)?,
    })
}

pub(crate) fn usage_marks(
    connection: &Connection,
    after_seq: i64,
    limit: usize,
) -> rusqlite::Result<Vec<UsageMark>> {
    let sql = format!("SELECT {COLUMNS}, digest FROM usage WHERE ?1 < seq ORDER BY seq LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let marks = statement.query_map(params![after_seq, limit.min(USAGE_MARKS_MAX)], |row| {
        Ok(UsageMark::of_row(row.get(0)?, &usage_at(row)?, row.get("digest")?))
    })?;
    marks.collect()
}

fn usage_sums(connection: &Connection) -> rusqlite::Result<Vec<UsageSum>> {
    let sum_at = |row: &Row<'_>, part| {
        Ok(UsageSum {
            part,
            currency: read_parsed(row, 1, BalanceCurrency::from_name)?,
            amount: read_nano(row, 2)?,
        })
    };
    let by_owner = "SELECT owner, currency, sum(amount) FROM usage_daily GROUP BY owner, currency";
    let mut statement = connection.prepare(by_owner)?;
    let owners = statement
        .query_map([], |row| sum_at(row, UsagePart::Owner(read_id(row, 0).map(OwnerId)?)))?;
    let mut sums = owners.collect::<rusqlite::Result<Vec<_>>>()?;
    let by_day = "SELECT day, currency, sum(amount) FROM usage_daily GROUP BY day, currency";
    let mut statement = connection.prepare(by_day)?;
    let days = statement.query_map([], |row| sum_at(row, UsagePart::Day(row.get(0)?)))?;
    for sum in days {
        sums.push(sum?);
    }
    Ok(sums)
}

fn read_set_allowances(connection: &Connection) -> rusqlite::Result<Vec<AllowanceSet>> {
    let sql = "SELECT owner, kind, amount FROM allowance_change ORDER BY at_ms, entry";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let (owner, kind) = (read_id(row, 0).map(OwnerId)?, read_parsed(row, 1, parse_allowance)?);
        Ok(AllowanceSet { owner, kind, amount: read_nano(row, 2)? })
    })?;
    rows.collect()
}

fn limited_keys(connection: &Connection) -> rusqlite::Result<Vec<LimitedKey>> {
    let sql = "SELECT id, limit_usd, limit_diem, limit_period, created_ms, limits_since_ms \
               FROM api_key WHERE limit_usd IS NOT NULL OR limit_diem IS NOT NULL";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let terms = KeyTerms {
            key: read_id(row, 0).map(KeyId)?,
            limit_usd: read_optional_nano(row, 1)?,
            limit_diem: read_optional_nano(row, 2)?,
            period: read_parsed(row, 3, LimitPeriod::from_name)?,
        };
        Ok(LimitedKey { terms, created: read_time(row, 4)?, since: read_time(row, 5)? })
    })?;
    rows.collect()
}

fn read_credited(connection: &Connection) -> rusqlite::Result<Vec<CreditedClaim>> {
    let sql = "SELECT network, entry, credited_nano FROM claim WHERE state = 'CREDITED'";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let (network, entry) = (row.get(0)?, read_id(row, 1).map(EntryId)?);
        Ok(CreditedClaim { network, entry, amount: read_nano(row, 2)? })
    })?;
    rows.collect()
}

fn read_missing(connection: &Connection) -> rusqlite::Result<Vec<MissingClaim>> {
    let sql = "SELECT network, transaction_id, entry, credited_nano, since_ms FROM claim \
               JOIN missing_claim ON claim.id = missing_claim.claim ORDER BY since_ms, id";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(MissingClaim {
            network: row.get(0)?,
            transaction: row.get(1)?,
            entry: read_id(row, 2).map(EntryId)?,
            amount: read_nano(row, 3)?,
            since: read_time(row, 4)?,
        })
    })?;
    rows.collect()
}

fn read_received(connection: &Connection) -> rusqlite::Result<Vec<ReceivedClaim>> {
    let sql = "SELECT claim.id, network, received_claim.transaction_id, amount_nano, since_ms \
               FROM claim JOIN received_claim ON claim.id = received_claim.claim \
               ORDER BY since_ms, id";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(ReceivedClaim {
            claim: ClaimId(row.get(0)?),
            network: row.get(1)?,
            transaction: row.get(2)?,
            amount: read_nano(row, 3)?,
            since: read_time(row, 4)?,
        })
    })?;
    rows.collect()
}

fn find_faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut faults = schema::find_differences(connection)?;
    let mut repeated = connection.prepare(
        "SELECT lower(hex(entry)), leg, count(*) FROM transfer \
         GROUP BY entry, leg HAVING 1 < count(*) LIMIT ?1",
    )?;
    let rows = repeated.query_map([FAULTS_MAX], |row| {
        let (entry, leg, times): (String, u16, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(format!("entry {entry} leg {leg} is in the journal {times} times"))
    })?;
    for fault in rows {
        faults.push(fault?);
    }
    let counted = "SELECT count(*), (SELECT rows FROM audit_count) FROM audit";
    let count = connection
        .query_row(counted, [], |row| Ok(AuditCount { rows: row.get(0)?, written: row.get(1)? }))?;
    if count.rows != count.written {
        faults.push(count.to_string());
    }
    let mut orphans = connection.prepare("PRAGMA foreign_key_check")?;
    let rows = orphans.query_map([], |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        Ok(format!("a row of {table} names a row of {parent} that is not there"))
    })?;
    for fault in rows.take(FAULTS_MAX) {
        faults.push(fault?);
    }
    let mut checked = connection.prepare(&format!("PRAGMA integrity_check({FAULTS_MAX})"))?;
    let rows = checked.query_map([], |row| row.get::<_, String>(0))?;
    for fault in rows {
        let fault = fault?;
        if fault != "ok" {
            faults.push(fault);
        }
    }
    Ok(faults)
}
