//! Opens a database whose log was not posted: after a crash, of an older release, or damaged.

use std::path::PathBuf;

use super::*;
use crate::sqlite::charge_log::old_file;
use crate::sqlite::revert_migrations::revert_to_version;

/// Opens the image twice, and asserts that the charges are in it once and in order.
async fn expect_charged(image: &TempDir, expected: &[u128], step: &str) {
    for _ in 0..2 {
        let store = SqliteStore::open(&options(image)).unwrap();
        assert_eq!(charged(&store).await, expected, "{step}");
        let books = store.trial_balance().await.unwrap();
        let debits: i128 = books.snapshot.lots.iter().map(|row| row.columns.debits).sum();
        assert_eq!(debits, 10 * expected.len() as i128, "{step}");
        let evidence = store.read_evidence().await.unwrap();
        assert_eq!(evidence.usage_last_seq, expected.len() as i64, "{step}");
        assert_eq!(evidence.faults, Vec::<String>::new(), "{step}");
        drop(store);
        assert_eq!(rows_in_log(image.path()), 0, "{step}");
    }
}

#[tokio::test]
async fn a_crash_at_any_step_leaves_each_acknowledged_charge_once_and_in_order() {
    let directory = directory();
    let path = directory.path();
    let mut writer = furnished(&options(&directory));
    let log = |writer: &mut SqliteWriter, entries: &[u128]| {
        let groups = entries.iter().map(|entry| settled(*entry, 1, 10)).collect();
        assert!(commit(writer, groups).iter().all(Result::is_ok));
    };
    expect_charged(&image(path), &[], "before anything").await;
    log(&mut writer, &[3, 1]);
    expect_charged(&image(path), &[3, 1], "a row in the log").await;
    log(&mut writer, &[2]);
    let two_rows = image(path);
    assert_eq!(rows_in_log(two_rows.path()), 2);
    expect_charged(&two_rows, &[3, 1, 2], "two rows in the log").await;

    let mut amid = Vec::new();
    let log_now = &writer.log;
    let undone = writer.session.transact(|connection, memory| {
        amid.push(image(path));
        log_now.post_alone(connection, memory)?;
        connection.cache_flush()?;
        amid.push(image(path));
        Err::<(), _>(WriteError::Refused(StoreError::Closed))
    });
    assert!(undone.is_err());
    for image in &amid {
        expect_charged(image, &[3, 1, 2], "amid the posting").await;
    }
    expect_charged(&image(path), &[3, 1, 2], "the posting undone").await;
    writer.post_log();
    expect_charged(&image(path), &[3, 1, 2], "posted").await;
    log(&mut writer, &[5]);
    expect_charged(&image(path), &[3, 1, 2, 5], "a row after the posting").await;
    let setting = StoreWrite::PutSetting { name: "other".into(), value: vec![1] };
    assert!(commit(&mut writer, vec![WriteGroup::from_write(setting)])[0].is_ok());
    expect_charged(&image(path), &[3, 1, 2, 5], "posted with another group").await;
}

#[tokio::test]
async fn a_store_that_is_closed_leaves_nothing_in_the_log() {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let store = patient(&options(&directory));
    store.commit(settled(1, 1, 10)).await.unwrap();
    assert!(store.pending.is_any());
    drop(store);
    assert_eq!(rows_in_log(directory.path()), 0);
    expect_charged(&directory, &[1], "closed").await;
}

#[tokio::test]
async fn a_database_of_the_release_before_the_log_is_opened() {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let connection = Connection::open(database_in(directory.path())).unwrap();
    revert_to_version(&connection, 10);
    drop(connection);
    let store = SqliteStore::open(&options(&directory)).unwrap();
    store.commit(settled(1, 1, 10)).await.unwrap();
    assert_eq!(charged(&store).await, [1]);
    assert_eq!(store.read_evidence().await.unwrap().faults, Vec::<String>::new());
}

#[tokio::test]
async fn charges_that_an_earlier_release_has_logged_are_not_passed_over() {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let connection = Connection::open(database_in(directory.path())).unwrap();
    revert_to_version(&connection, 12);
    connection.execute_batch("INSERT INTO charge_log (charges) VALUES (x'01')").unwrap();
    drop(connection);
    let error = SqliteStore::open(&options(&directory)).unwrap_err();
    expect_test::expect!["refused by a constraint of the database: a crash has left charges in the table charge_log; start and stop the release that wrote them, which posts them, and then this one"].assert_eq(&error.to_string());
}

/// Checks the error of opening a database whose log was changed, and that the log is kept.
#[track_caller]
fn check(change: &str, expected: expect_test::Expect) {
    let directory = directory();
    let mut writer = furnished(&options(&directory));
    assert!(commit(&mut writer, vec![settled(1, 1, 10)])[0].is_ok());
    drop(writer);
    let connection = Connection::open(database_in(directory.path())).unwrap();
    connection.execute_batch(change).unwrap();
    drop(connection);
    let error = SqliteStore::open(&options(&directory)).unwrap_err();
    expected.assert_eq(&error.to_string());
    assert_eq!(rows_in_log(directory.path()), 1);
}

#[test]
fn a_damaged_row_is_named_and_kept() {
    check(
        "UPDATE charge_log SET charges = substr(charges, 1, 20)",
        expect_test::expect![
            "row 1 of the table charge_log cannot be read: it is damaged; restore a backup, or ask for help with a copy of the database"
        ],
    );
}

#[test]
fn a_row_of_a_later_release_is_named_and_kept() {
    check(
        "UPDATE charge_log SET charges = CAST(x'04' || substr(charges, 2) AS BLOB)",
        expect_test::expect![
            "row 1 of the table charge_log cannot be read: it has form 4, which this release does not know; run the release that wrote it"
        ],
    );
}

#[test]
fn a_charge_that_cannot_be_posted_is_kept() {
    check(
        "UPDATE account SET credits = 9 WHERE owner IS NOT NULL",
        expect_test::expect![
            "the table charge_log holds charges that were acknowledged and cannot be posted, in 1 rows; they were left there, so keep a copy of the database and ask for help: refused by a constraint of the database: CHECK constraint failed: owner IS NULL OR CASE name WHEN 'debt' THEN credits <= debits AND pending = 0 ELSE debits + pending <= credits END"
        ],
    );
}

/// The generation and the header of the first record that the release before this one left when it
/// was killed.
const OLD_GENERATION: i64 = 2_317_593_478_703_732_039;
const OLD_RECORD: &str = "546f6c6cf532772647d5e55ffdbe292000000000d1000000";

/// Puts such a file beside a database that has this generation.
fn directory_of_old_release(generation: i64) -> (TempDir, PathBuf) {
    let directory = directory();
    drop(furnished(&options(&directory)));
    let database = database_in(directory.path());
    let connection = Connection::open(&database).unwrap();
    revert_to_version(&connection, 23);
    connection.execute("UPDATE charge_log_generation SET generation = ?1", [generation]).unwrap();
    let path = old_file::path_beside(&database);
    let mut file = vec![0; 8 << 20];
    let record = hex::decode(OLD_RECORD).unwrap();
    // The second area, of odd generations.
    file[4 << 20..][..record.len()].copy_from_slice(&record);
    fs::write(&path, file).unwrap();
    (directory, path)
}

#[test]
fn a_file_with_charges_that_an_earlier_release_has_not_posted_is_not_passed_over() {
    for generation in [OLD_GENERATION - 1, OLD_GENERATION] {
        let (directory, path) = directory_of_old_release(generation);
        for _ in 0..2 {
            let error = SqliteStore::open(&options(&directory)).unwrap_err().to_string();
            expect_test::expect!["FILE has charges of an earlier release that are not in the database yet; start and stop that release once, which writes them to the database, and then this one"]
                .assert_eq(&error.replace(path.to_str().unwrap(), "FILE"));
            assert!(path.exists());
        }
        let status = schema::read_status(&database_in(directory.path())).unwrap();
        assert_eq!(status.version, 23, "the earlier release can still open it");
    }
}

#[tokio::test]
async fn a_file_whose_charges_are_posted_is_removed() {
    let (directory, path) = directory_of_old_release(OLD_GENERATION + 1);
    let store = SqliteStore::open(&options(&directory)).unwrap();
    assert!(!path.exists());
    store.commit(settled(1, 1, 10)).await.unwrap();
    assert_eq!(charged(&store).await, [1]);
    assert_eq!(store.read_evidence().await.unwrap().faults, Vec::<String>::new());
}
