//! Tests of the charge log: it changes nothing but the cost of charges.

use std::fs;
use std::path::Path;

use ledger_core::{JournalRecord, KeyStamp, LedgerTransfer, LimitClass, TransferCode};
use money::Nano;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;
use crate::Store;
use crate::conformance::fixture::{
    add_key, build_charge, build_key, build_lot, build_owner, build_usage_row, entry_id, key_id,
    lot_opened, owner_id, record_transfer, today_at, top_up,
};
use crate::queries::*;
use crate::sqlite::charge_log::crash_recovery::post_left_rows;
use crate::sqlite::{SqliteOptions, SqliteStore, database_in, open_writer, schema};
use crate::write::StoreWrite;

mod equivalence;
mod full;
mod opening;
mod refusing;
mod stopping;

fn directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn options(directory: &TempDir) -> SqliteOptions {
    SqliteOptions::scratch(database_in(directory.path()))
}

/// A writer without its thread, so that a test decides when the log is posted.
fn writer(options: &SqliteOptions) -> SqliteWriter {
    let mut connection = open_writer(options).unwrap();
    schema::apply_migrations(&mut connection).unwrap();
    post_left_rows(&mut connection).unwrap();
    SqliteWriter::new(connection, ChargeLog::default(), QUIET)
}

/// A store that posts its log only when it must.
fn patient(options: &SqliteOptions) -> SqliteStore {
    SqliteStore::open_with(options, Duration::MAX).unwrap()
}

/// Two owners with a key and a dollar each.
fn furnished(options: &SqliteOptions) -> SqliteWriter {
    let mut writer = writer(options);
    for number in [1, 2] {
        let writes = vec![
            StoreWrite::AddOwner(build_owner(number)),
            add_key(build_key(number)),
            lot_opened(build_lot(number)),
            record_transfer(top_up(u128::from(number) << 64, build_lot(number), 1_000_000_000)),
        ];
        commit(&mut writer, vec![WriteGroup { writes }]).pop().unwrap().unwrap();
    }
    writer
}

fn commit(writer: &mut SqliteWriter, groups: Vec<WriteGroup>) -> Vec<Result<(), StoreError>> {
    writer.commit(&mut waiting(groups))
}

fn waiting(groups: Vec<WriteGroup>) -> Vec<QueuedGroup> {
    groups.into_iter().map(|group| QueuedGroup { group, done: oneshot::channel().0 }).collect()
}

/// The group of a settled charge.
fn settled(entry: u128, number: u8, nanos: i64) -> WriteGroup {
    let stamp = KeyStamp::at(key_id(number), today_at(0));
    let paid = LedgerTransfer { key: Some(stamp), ..build_charge(entry, build_lot(number), nanos) };
    let amount = Nano::from_nanos(nanos);
    let mut row = build_usage_row(number, today_at(0), nanos);
    row.charge = entry_id(entry);
    row.sku = "crypto-rpc-base".into();
    WriteGroup {
        writes: vec![
            record_transfer(paid),
            StoreWrite::Journal(JournalRecord::KeySpent { stamp, class: LimitClass::Usd, amount }),
            StoreWrite::AddUsage(row),
        ],
    }
}

/// Number of rows of the log.
fn rows_in_log(directory: &Path) -> usize {
    let connection = Connection::open(database_in(directory)).unwrap();
    connection.query_row("SELECT count(*) FROM charge_log", [], |row| row.get(0)).unwrap()
}

/// The charges of the journal, in order.
async fn charged(store: &SqliteStore) -> Vec<u128> {
    let entries = store.read_journal(0, 10_000).await.unwrap().into_iter();
    let charges = entries.filter(|entry| entry.transfer.code == TransferCode::Charge);
    charges.map(|entry| entry.transfer.entry.0.as_u128()).collect()
}

#[tokio::test]
async fn a_charge_is_one_row_until_the_log_is_posted() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    for entry in 1..=3 {
        assert!(commit(&mut writer, vec![settled(entry, 1, 10)])[0].is_ok());
    }
    assert_eq!((writer.log.len(), rows_in_log(directory.path())), (3, 3));
    writer.post_log();
    assert_eq!((writer.log.len(), rows_in_log(directory.path())), (0, 0));
}

#[tokio::test]
async fn every_question_sees_a_charge_once_it_is_acknowledged() {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let store = patient(&options(&directory));
    let mut seen = Vec::new();
    for question in 1..=13 {
        store.commit(settled(question, 1, 1)).await.unwrap();
        assert!(store.pending.is_any(), "the charge should wait in the log");
        seen.push(charges_seen_by(&store, question).await);
    }
    assert_eq!(seen, (1..=13).collect::<Vec<_>>());
}

/// The number of charges, of one nano each, that a query returns.
async fn charges_seen_by(store: &SqliteStore, question: u128) -> i128 {
    use crate::usage::{DayRange, PageRequest, UsageFilter, UsageOrder};
    let (owner, days) = (owner_id(1), DayRange { first: 0, last: i64::MAX });
    let filter = UsageFilter { owner, currency: None, from: today_at(0), until: today_at(1) };
    let page = PageRequest { order: UsageOrder::NewestFirst, skip: 0, size: 100 };
    let count = |length: usize| length as i128;
    match question {
        1 => store.load_books().await.unwrap().snapshot.lots[0].columns.debits,
        2 => count(store.usage_page(filter, page).await.unwrap().rows.len()),
        3 => count(store.usage_after(filter, None, 100).await.unwrap().len()),
        4 => store.usage_by_model(owner, days).await.unwrap()[0].amount.nanos().into(),
        5 => store.usage_by_key(owner, days).await.unwrap()[0].amount.nanos().into(),
        6 => count(store.read_statement(owner, 0, 100).await.unwrap().lines.len() - 1),
        7 => i128::from(store.spent_credits(today_at(0)).await.unwrap()[0].credits / 227),
        8 => count(store.read_journal(0, 100).await.unwrap().len() - 2),
        9 => 8 + count(store.find_transfers(entry_id(question)).await.unwrap().len()),
        10 => 9 + i128::from(store.is_recorded(entry_id(question)).await.unwrap()),
        11 => store.trial_balance().await.unwrap().snapshot.lots[0].columns.debits,
        12 => store.read_evidence().await.unwrap().usage_last_seq.into(),
        _ => count(store.usage_marks(0, 100).await.unwrap().len()),
    }
}

#[tokio::test]
async fn other_groups_come_after_the_charges_that_were_handed_in_before_them() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    let paid_in = |entry| WriteGroup::from_write(record_transfer(top_up(entry, build_lot(1), 5)));
    let batches = vec![
        vec![settled(1, 1, 10), settled(2, 2, 10)],
        vec![settled(3, 1, 10)],
        vec![settled(4, 1, 10), paid_in(5), settled(6, 2, 10)],
        vec![settled(7, 1, 10)],
        vec![paid_in(8)],
        vec![settled(9, 2, 10)],
    ];
    for batch in batches {
        assert!(commit(&mut writer, batch).iter().all(Result::is_ok));
    }
    drop(writer);
    let store = SqliteStore::open(&options(&directory)).unwrap();
    let entries = store.read_journal(0, 100).await.unwrap().into_iter().skip(2);
    let order: Vec<u128> = entries.map(|entry| entry.transfer.entry.0.as_u128()).collect();
    assert_eq!(order, (1..=9).collect::<Vec<_>>());
}

#[test]
fn a_log_that_is_not_posted_has_a_bound() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    for entry in 1..=UNPOSTED_GROUPS_MAX as u128 {
        assert!(commit(&mut writer, vec![settled(entry, 1, 1)])[0].is_ok());
    }
    assert_eq!(writer.log.len(), UNPOSTED_GROUPS_MAX);
    assert!(commit(&mut writer, vec![settled(9_999, 1, 1)])[0].is_ok());
    assert!(writer.log.is_empty());
}

#[test]
fn many_charges_at_once_are_posted_at_once() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    let many = (1..=LOGGED_BATCH_MAX as u128 + 1).map(|entry| settled(entry, 1, 1)).collect();
    assert!(commit(&mut writer, many).iter().all(Result::is_ok));
    assert!(writer.log.is_empty());
    let few = (1001..=1000 + LOGGED_BATCH_MAX as u128).map(|entry| settled(entry, 1, 1)).collect();
    assert!(commit(&mut writer, few).iter().all(Result::is_ok));
    assert_eq!(writer.log.len(), LOGGED_BATCH_MAX);
}

#[test]
fn a_long_log_is_posted_once_its_last_batch_was_acknowledged() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    for entry in 1..POSTED_TOGETHER as u128 {
        writer.commit_and_complete(&mut waiting(vec![settled(entry, 1, 1)]));
    }
    assert_eq!(writer.log.len(), POSTED_TOGETHER - 1);
    writer.commit_and_complete(&mut waiting(vec![settled(9_999, 1, 1)]));
    assert!(writer.log.is_empty());
}

#[test]
fn a_log_is_posted_when_nothing_more_comes_and_an_empty_one_waits_for_ever() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    assert_eq!(writer.posting_delay(), None);
    assert!(commit(&mut writer, vec![settled(1, 1, 1)])[0].is_ok());
    assert_eq!(writer.posting_delay(), Some(QUIET));
    let (queue, mut batch) = (SqliteQueue::default(), Vec::new());
    assert_eq!(queue.take(&mut batch, Some(Duration::ZERO)), QueueTake::Nothing);
    queue.close();
    assert_eq!(queue.take(&mut batch, Some(Duration::ZERO)), QueueTake::End);
}

#[test]
fn a_log_that_somebody_else_has_posted_is_not_posted_again() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    assert!(commit(&mut writer, vec![settled(1, 1, 1)])[0].is_ok());
    let log = &writer.log;
    let posted = writer.session.transact(|connection, memory| {
        connection.execute("DELETE FROM charge_log", [])?;
        let error = log.post_alone(connection, memory).unwrap_err();
        assert!(matches!(error, WriteError::Unpostable(StoreError::Unsuitable(_))), "{error:?}");
        Err::<(), _>(WriteError::Refused(StoreError::Closed))
    });
    assert!(posted.is_err());
    // A charge that is already in the tables is such a case too: it was acknowledged and cannot be
    // refused any more.
    let posted = writer.session.transact(|connection, memory| {
        log.post_alone(connection, memory)?;
        connection.execute("INSERT INTO charge_log (charges) VALUES (x'00')", [])?;
        let error = log.post_alone(connection, memory).unwrap_err();
        assert!(matches!(error, WriteError::Unpostable(StoreError::Duplicate(_))), "{error:?}");
        Err::<(), _>(WriteError::Refused(StoreError::Closed))
    });
    assert!(posted.is_err());
    writer.post_log();
    assert!(writer.log.is_empty());
}

/// A copy of the database as a crash would leave it at this moment.
fn image(directory: &Path) -> TempDir {
    let copied = tempfile::tempdir().unwrap();
    for end in ["", "-wal"] {
        let name = format!("tollgate.db{end}");
        fs::copy(directory.join(&name), copied.path().join(&name)).unwrap();
    }
    copied
}
