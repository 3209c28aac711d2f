//! A full disk: charges are refused or kept, and never lost.

use super::*;
use crate::sqlite::CommitDurability;
use crate::sqlite::charge_log::file::LogFile;
use crate::usage::UsageRow;

/// Room for the setup and some hundred charges.
const BYTES: u64 = 400 * 1024;

fn setting(name: &str, bytes: usize) -> WriteGroup {
    WriteGroup::from_write(StoreWrite::PutSetting { name: name.into(), value: vec![7; bytes] })
}

/// Fills the database, to the last page.
fn fill(writer: &mut SqliteWriter) {
    for number in 0.. {
        let outcome = commit(writer, vec![setting(&number.to_string(), 3000)]).pop().unwrap();
        if let Err(error) = outcome {
            assert!(matches!(error, StoreError::Full), "{error}");
            return;
        }
    }
}

#[tokio::test]
async fn without_room_charges_are_kept_up_to_a_bound_then_refused_and_posted_later() {
    let directory = directory();
    let small = SqliteOptions { bytes_max: BYTES, ..options(&directory) };
    let mut writer = furnished(&small);
    fill(&mut writer);
    let mut acknowledged = Vec::new();
    let error = loop {
        let entry = acknowledged.len() as u128 + 1;
        match commit(&mut writer, vec![settled(entry, 1, 10)]).pop().unwrap() {
            Ok(()) => acknowledged.push(entry),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full), "{error}");
    assert_eq!(acknowledged.len(), UNPOSTED_GROUPS_MAX);
    // Refused again, without any effect on the counts: the money is still available.
    assert!(commit(&mut writer, vec![settled(9_999, 1, 10)])[0].is_err());
    post(&mut writer);
    assert!(!writer.has_room, "the posting should find no room");
    assert_eq!(writer.posting_delay(), Some(NO_ROOM_PAUSE));
    assert_eq!(writer.posted_at, acknowledged.len() + POSTED_TOGETHER);
    drop(writer);
    assert_eq!(records_in_log(directory.path()), UNPOSTED_GROUPS_MAX);
    let error = SqliteStore::open(&small).unwrap_err();
    assert!(matches!(error, StoreError::Full), "{error}");
    let store = SqliteStore::open(&options(&directory)).unwrap();
    assert_eq!(charged(&store).await, acknowledged);
    let debits = store.load_books().await.unwrap().snapshot.lots[0].columns.debits;
    assert_eq!(debits, 10 * acknowledged.len() as i128);
    drop(store);
    assert_eq!(records_in_log(directory.path()), 0);
}

#[tokio::test]
async fn a_log_without_room_of_its_own_is_posted() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    // Long notes, so that a few records fill the file.
    let long = |entry| {
        let mut group = settled(entry, 1, 10);
        let notes = "n".repeat(1_000_000);
        group
            .writes
            .push(StoreWrite::AddUsage(UsageRow { notes, ..build_usage_row(1, today_at(0), 0) }));
        group
    };
    let lengths: Vec<usize> = (1..=6)
        .map(|entry| {
            assert!(commit(&mut writer, vec![long(entry)])[0].is_ok());
            writer.log.len()
        })
        .collect();
    assert_eq!(lengths, [1, 2, 3, 4, 0, 1]);
    drop(writer);
    let store = SqliteStore::open(&options(&directory)).unwrap();
    assert_eq!(charged(&store).await, [1, 2, 3, 4, 5, 6]);
}

/// A device may report a full disk after it has written the whole record.
#[tokio::test]
async fn a_record_that_was_refused_and_is_on_disk_all_the_same_is_not_posted_twice() {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    let generation = writer.log.file_mut().generation();
    let path = path_beside(&database_in(directory.path()));
    let batch = waiting(vec![settled(1, 1, 10)]);
    let charges = encode_groups(batch.iter().map(|waiting| &waiting.group)).unwrap();
    let mut same = LogFile::open(&path, CommitDurability::Off, generation).unwrap();
    assert!(same.append(&charges).unwrap());
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let real = writer.log.file_mut().swap_file(full);
    assert!(commit(&mut writer, vec![settled(1, 1, 10)])[0].is_ok(), "posted at once");
    writer.log.file_mut().swap_file(real);
    let store = SqliteStore::open(&options(&image(directory.path()))).unwrap();
    assert_eq!(charged(&store).await, [1]);
    drop(store);
    // The log can still be used.
    assert!(commit(&mut writer, vec![settled(2, 1, 10)])[0].is_ok());
    let store = SqliteStore::open(&options(&image(directory.path()))).unwrap();
    assert_eq!(charged(&store).await, [1, 2]);
}
