//! A disk that is full: charges are refused or kept, and never lost.

use super::*;

/// Room for the furnishing and some hundred charges.
const BYTES: u64 = 400 * 1024;

fn setting(name: &str, bytes: usize) -> Group {
    Group::of(Write::PutSetting { name: name.into(), value: vec![7; bytes] })
}

/// Takes what room there is, to the last page.
fn fill(writer: &mut Writer) {
    for number in 0.. {
        let outcome = commit(writer, vec![setting(&number.to_string(), 3000)]).pop().unwrap();
        if let Err(error) = outcome {
            assert!(matches!(error, StoreError::Full), "{error}");
            return;
        }
    }
}

#[tokio::test]
async fn without_room_for_the_log_a_charge_is_refused_and_what_was_acknowledged_stays() {
    let directory = directory();
    let small = Options { bytes_max: BYTES, ..options(&directory) };
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
    // Refused again, and counted as if it had never been: the money is still there.
    assert!(commit(&mut writer, vec![settled(9_999, 1, 10)])[0].is_err());
    drop(writer);
    let store = Sqlite::open(&options(&directory)).unwrap();
    assert_eq!(charged(&store).await, acknowledged);
    assert_eq!(
        store.load().await.unwrap().snapshot.lots[0].columns.debits,
        10 * acknowledged.len() as i128
    );
}

#[tokio::test]
async fn a_log_that_cannot_be_posted_for_lack_of_room_is_kept_bounded_and_posted_later() {
    let directory = directory();
    let small = Options { bytes_max: BYTES, ..options(&directory) };
    let mut writer = furnished(&small);
    assert!(commit(&mut writer, vec![setting("room", 40_000)])[0].is_ok());
    fill(&mut writer);
    // Pages for the log, and too few for the tables.
    assert!(commit(&mut writer, vec![setting("room", 1)])[0].is_ok());
    let mut acknowledged = Vec::new();
    loop {
        let entry = acknowledged.len() as u128 + 1;
        if commit(&mut writer, vec![settled(entry, 1, 10)])[0].is_err() {
            break;
        }
        acknowledged.push(entry);
    }
    writer.post();
    assert!(!writer.has_room, "the posting should find no room");
    assert_eq!(writer.log.len(), acknowledged.len());
    assert!(acknowledged.len() <= UNPOSTED_GROUPS_MAX);
    drop(writer);
    assert_ne!(rows_in_log(directory.path()), 0);
    let error = Sqlite::open(&small).unwrap_err();
    assert!(matches!(error, StoreError::Full), "{error}");
    let store = Sqlite::open(&options(&directory)).unwrap();
    assert_eq!(charged(&store).await, acknowledged);
    drop(store);
    assert_eq!(rows_in_log(directory.path()), 0);
}
