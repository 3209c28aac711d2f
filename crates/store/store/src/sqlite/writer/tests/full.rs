//! A full disk: charges are refused or kept, and never lost.

use super::*;

/// Room for the setup and some hundred charges.
const BYTES: u64 = 512 * 1024;

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

/// Commits charges until one is refused, and returns those before it.
fn charge_until_refused(writer: &mut SqliteWriter) -> Vec<u128> {
    let mut acknowledged = Vec::new();
    loop {
        let entry = acknowledged.len() as u128 + 1;
        match commit(writer, vec![settled(entry, 1, 10)]).pop().unwrap() {
            Ok(()) => acknowledged.push(entry),
            Err(error) => {
                assert!(matches!(error, StoreError::Full), "{error}");
                return acknowledged;
            }
        }
    }
}

async fn expect_charged(directory: &TempDir, acknowledged: &[u128]) {
    let store = SqliteStore::open(&options(directory)).unwrap();
    assert_eq!(charged(&store).await, acknowledged);
    let debits = store.load_books().await.unwrap().snapshot.lots[0].columns.debits;
    assert_eq!(debits, 10 * acknowledged.len() as i128);
    drop(store);
    assert_eq!(rows_in_log(directory.path()), 0);
}

#[tokio::test]
async fn without_room_for_the_log_a_charge_is_refused_and_what_was_acknowledged_stays() {
    let directory = directory();
    let small = SqliteOptions { bytes_max: BYTES, ..options(&directory) };
    let mut writer = furnished(&small);
    fill(&mut writer);
    let acknowledged = charge_until_refused(&mut writer);
    // Refused again, without any effect on the counts: the money is still available.
    assert!(commit(&mut writer, vec![settled(9_999, 1, 10)])[0].is_err());
    drop(writer);
    expect_charged(&directory, &acknowledged).await;
}

#[tokio::test]
async fn a_log_that_cannot_be_posted_for_lack_of_room_is_kept_and_posted_later() {
    let directory = directory();
    let small = SqliteOptions { bytes_max: BYTES, ..options(&directory) };
    let mut writer = furnished(&small);
    assert!(commit(&mut writer, vec![setting("room", 40_000)])[0].is_ok());
    fill(&mut writer);
    // Pages for the log, and too few for the tables.
    assert!(commit(&mut writer, vec![setting("room", 1)])[0].is_ok());
    let acknowledged = charge_until_refused(&mut writer);
    writer.post_log();
    assert!(!writer.has_room, "the posting should find no room");
    assert_eq!(writer.posting_delay(), Some(NO_ROOM_PAUSE));
    assert_eq!(writer.log.len(), acknowledged.len());
    drop(writer);
    assert_eq!(rows_in_log(directory.path()), acknowledged.len());
    let error = SqliteStore::open(&small).unwrap_err();
    assert!(matches!(error, StoreError::Full), "{error}");
    expect_charged(&directory, &acknowledged).await;
}
